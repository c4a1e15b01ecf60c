#pragma once
#include <CLI/App.hpp>
#include <filesystem>

namespace prof {

// `prof analyze`: measurements in, database out.
void add_analyze_command(CLI::App& app, int& status);

// What `prof run` does at its end: analyzes into DIR/database, prints the summary and, last, the database's
// path. An analysis that fails is one line on standard error: the program's exit status stands.
void analyze_and_summarize(const std::filesystem::path& directory);

}  // namespace prof

#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>

namespace prof {

// `prof analyze`: measurements in, database out.
void add_analyze_command(CLI::App& app, int& status);

// Analyzes into DIR/database with default options; returns the database. Throws what the analysis throws.
std::filesystem::path analyze_directory(const std::filesystem::path& directory);

// What `prof run` does at its end: analyzes into DIR/database, prints the summary and, last, the database's
// path. An analysis that fails is one line on standard error: the program's exit status stands.
void analyze_and_summarize(const std::filesystem::path& directory);

}  // namespace prof

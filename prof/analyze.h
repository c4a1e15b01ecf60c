#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>

#include "analysis/database/database.h"

namespace prof {

// `prof analyze`: measurements in, database out.
void add_analyze_command(CLI::App& app, int& status);

// The database of a measurement directory, analyzed with default options where it is missing or older than
// the measurements: into DIR/database, or where that cannot be written in memory only, with a line that says
// so. Throws what the analysis throws.
Database database_of(const std::filesystem::path& directory, ReadValues when);

// What `prof run` does at its end: analyzes into DIR/database, prints the summary and, last, the database's
// path. An analysis that fails is one line on standard error: the program's exit status stands. `analyzed`:
// called before anything is shown.
void analyze_and_summarize(const std::filesystem::path& directory,
                           const std::function<void()>& analyzed = {});

}  // namespace prof

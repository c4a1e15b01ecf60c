#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>

#include "analysis/database/database.h"

namespace prof {

// `prof report` and `prof export`: a database, or a measurement directory that is analyzed first.
void add_report_command(CLI::App& app, int& status);
void add_export_command(CLI::App& app, int& status);

// What a user names: a database, or a measurement directory, which is analyzed where it was not yet. Throws
// what reader and analysis throw.
Database open_database(const std::filesystem::path& path, ReadValues when);

}  // namespace prof

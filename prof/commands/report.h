#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// `prof report` and `prof export`: read a database, or a measurement directory, which is analyzed first.
void add_report_command(CLI::App& app, int& status);
void add_export_command(CLI::App& app, int& status);

}  // namespace prof

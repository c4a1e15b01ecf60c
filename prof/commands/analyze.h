#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// `prof analyze`: makes a database from measurements.
void add_analyze_command(CLI::App& app, int& status);

}  // namespace prof

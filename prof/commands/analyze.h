#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// `prof analyze`: measurements in, database out.
void add_analyze_command(CLI::App& app, int& status);

}  // namespace prof

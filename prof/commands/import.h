#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// `prof import`: what another profiler recorded in, database out.
void add_import_command(CLI::App& app, int& status);

}  // namespace prof

#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// `prof import`: makes a database from another profiler's recording.
void add_import_command(CLI::App& app, int& status);

}  // namespace prof

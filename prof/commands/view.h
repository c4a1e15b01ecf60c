#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// `prof view`: checks the arguments, analyzes a measurement directory, and becomes prof-viewer.
void add_view_command(CLI::App& app, int& status);

}  // namespace prof

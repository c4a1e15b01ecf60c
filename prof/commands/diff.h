#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// `prof diff`: compares runs before and after a change. Measurement directories are analyzed first.
void add_diff_command(CLI::App& app, int& status);

}  // namespace prof

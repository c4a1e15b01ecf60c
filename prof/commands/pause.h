#pragma once
// `prof pause` and `prof resume`.

#include <CLI/CLI.hpp>

namespace prof {

void add_pause_commands(CLI::App& app, int& status);

}  // namespace prof

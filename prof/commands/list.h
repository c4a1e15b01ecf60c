#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// `prof list`: what can be asked for by name.
void add_list_command(CLI::App& app, int& status);

}  // namespace prof

#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// `prof list`: lists what other commands take by name.
void add_list_command(CLI::App& app, int& status);

}  // namespace prof

#pragma once
// `prof exact`: counts wasted loads and stores of a program exactly.

#include <CLI/CLI.hpp>

namespace prof {

// Adds the subcommand. After it has run, `status` is the exit status of the whole command.
void add_exact_command(CLI::App& app, int& status);

}  // namespace prof

#pragma once
// `prof run`: measures a program, analyzes the measurements, and prints the summary.

#include <CLI/CLI.hpp>

namespace prof {

// Adds the subcommand. After it has run, `status` is the exit status of the whole command.
void add_run_command(CLI::App& app, int& status);

}  // namespace prof

#pragma once
// `prof run`: measures a program, analyzes what was measured, prints the summary.

#include <CLI/CLI.hpp>

namespace prof {

// Adds the subcommand; when it ran, `status` is the exit status of the whole command.
void add_run_command(CLI::App& app, int& status);

}  // namespace prof

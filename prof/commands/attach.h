#pragma once
// `prof attach PID`, also `prof run -p PID`: measures a running process.

#include <CLI/CLI.hpp>

#include "prof/run/measuring_options.h"

namespace prof {

// Measures until the process ends, `duration` is over, or prof gets SIGINT, SIGTERM or SIGHUP. The process
// continues to run. Returns 0; throws CommandError (125) if the process cannot be measured.
int attach(int pid, const MeasuringOptions& options);

// Adds the subcommand. After it has run, `status` is the exit status of the whole command.
void add_attach_command(CLI::App& app, int& status);

}  // namespace prof

#pragma once
// `prof attach PID`, also `prof run -p PID`: measures a process that runs already.

#include <CLI/CLI.hpp>

#include "prof/run/measuring_options.h"

namespace prof {

// Until the process ends, `duration` is over, or prof gets SIGINT, SIGTERM or SIGHUP. The process lives on.
// 0; throws CommandError (125) where the process cannot be measured.
int attach(int pid, const MeasuringOptions& options);

// Adds the subcommand; when it ran, `status` is the exit status of the whole command.
void add_attach_command(CLI::App& app, int& status);

}  // namespace prof

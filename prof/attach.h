#pragma once
// `prof attach PID`, also `prof run -p PID`: measures a process that runs already.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "prof/measuring_window.h"

namespace prof {

struct AttachOptions {
  int pid = 0;
  std::vector<std::string> events;
  bool trace = false;
  bool analyze = true;
  bool force = false;
  Window window;
  std::string output;
};

// Until the process ends, `duration` is over, or prof gets SIGINT, SIGTERM or SIGHUP. The process lives on.
// 0; throws CommandError (125) where the process cannot be measured.
int attach(const AttachOptions& options);

// Adds the subcommand; when it ran, `status` is the exit status of the whole command.
void add_attach_command(CLI::App& app, int& status);

}  // namespace prof

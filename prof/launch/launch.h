#pragma once
// Runs the measured program as a child with the runtime preloaded.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "prof/launch/measuring_window.h"

namespace prof {

// Variables in the order in which they are set.
using Environment = std::vector<std::pair<std::string, std::string>>;

struct Launch {
  std::filesystem::path program;       // the file to execute
  std::vector<std::string> arguments;  // argv, [0] as the user typed it
  Environment environment;             // added to prof's own
  std::filesystem::path measurement_directory;
  Window window;
  bool is_silent = false;  // its standard streams are /dev/null
  // Prefix of the names of its measurement files, if other processes write to the directory as well.
  std::string file_prefix;
  bool watches_debuggers = true;  // the watch lists the directory as long as new files appear
  // If set, called with the child's process id before it executes the program.
  std::function<void(pid_t)> before_exec;
};

struct Outcome {
  int exit_status = 0;  // as a shell reports it: 128 + n for a signal
  int signal = 0;       // the signal that killed it; 0: none
  int pid = 0;
  int64_t end_monotonic_ns = 0;
  double wall_s = 0;
  double cpu_s = 0;  // user and system, of the program and the descendants for which it waited
};

// Runs the program and waits for its end. Signals that are sent to `prof` alone (SIGINT, SIGTERM, SIGHUP,
// SIGQUIT by kill) are forwarded; the terminal sends its own to the program, too. SIGPIPE is ignored from
// then on, also after the return. Throws CommandError if the program cannot be executed.
Outcome launch(const Launch& what);

// Becomes the program instead, with the arguments and environment of `what`. Throws CommandError if it cannot
// be executed.
[[noreturn]] void become(const Launch& what);

}  // namespace prof

#pragma once
// What `prof run` and `prof attach` can be told about measuring, whichever way the process is got.

#include <string>
#include <vector>

#include "prof/launch/measuring_window.h"

namespace CLI {
class App;
}  // namespace CLI

namespace prof {

struct MeasuringOptions {
  std::vector<std::string> events;  // as the user wrote them; empty: the default
  bool trace = false;
  bool analyze = true;
  bool force = false;
  Window window;
  std::string output;  // the measurement directory, %-sequences included; empty: one is named
};

// Declares -e, --trace, --no-analyze, --delay, --duration, --force, -o, --share and -q.
void add_measuring_options(CLI::App& command, MeasuringOptions& options);

}  // namespace prof

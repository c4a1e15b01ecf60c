#pragma once
// Options of `prof run` and `prof attach` that control measuring.

#include <string>
#include <vector>

#include "prof/launch/measuring_window.h"

namespace CLI {
class App;
}  // namespace CLI

namespace prof {

struct MeasuringOptions {
  std::vector<std::string> events;  // as the user typed them; empty: the default
  bool trace = false;
  bool analyze = true;
  bool force = false;
  Window window;
  std::string output;  // the measurement directory, with %-sequences; empty: a default name
};

// Declares -e, --trace, --no-analyze, --delay, --duration, --force, -o, --share and -q.
void add_measuring_options(CLI::App& command, MeasuringOptions& options);

}  // namespace prof

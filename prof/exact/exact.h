#pragma once
// `prof exact`: runs a program in Valgrind with the tool that follows its loads and stores (exact/valgrind),
// and converts what it found to measurements.

#include <string>
#include <vector>

namespace prof {

struct ExactOptions {
  bool dead_stores = false;
  bool silent_stores = false;
  bool redundant_loads = false;
  bool count = false;
  std::string output;  // the measurement directory; empty: a default name
  bool force = false;
  bool analyze = true;
  std::vector<std::string> command;
};

// Returns the program's exit status. Throws CommandError if the program cannot be run.
int run_exact(const ExactOptions& options);

}  // namespace prof

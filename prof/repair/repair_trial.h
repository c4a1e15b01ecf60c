#pragma once
// `prof run --repair --verify`: runs the program alternately with and without the repairs that were found,
// and keeps those that make it faster.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "prof/launch/launch.h"
#include "prof/repair/repair_request.h"

namespace prof {

struct TrialSetting {
  Launch launch;                    // of the program with the runtime, measuring as little as it can
  std::filesystem::path directory;  // the measurement directory; the trial runs leave nothing in it
  RepairRequest request;
  int exit_status = 0;  // of the measured run
  uint32_t pairs = 3;
};

// Updates the terms of `file`. Each tried repair gets its ratio. A repair that does not make the program at
// least 2 % faster, or changes its exit status, is declined. Prints the result on standard error. The
// program's output is discarded, and its standard input is empty.
void try_repairs(const TrialSetting& setting, RepairFile& file);

}  // namespace prof

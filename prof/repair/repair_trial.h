#pragma once
// `prof run --repair --verify`: runs the program again with and without what was found, by turns, and keeps
// what makes it faster.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "prof/launch/launch.h"
#include "prof/repair/repair_request.h"

namespace prof {

struct TrialSetting {
  Launch launch;                    // of the program with the runtime, measuring as little as it can
  std::filesystem::path directory;  // the measurement directory; runs leave nothing in it
  RepairRequest request;
  int exit_status = 0;  // of the run that was measured
  uint32_t pairs = 3;
};

// Brings the terms of `file` up to date: what was tried has its ratio, and what does not make the program
// faster by 2 % at least, or changes its exit status, is declined. Says on standard error what came out.
// Nothing of the program's output is seen, and its standard input is empty.
void try_repairs(const TrialSetting& setting, RepairFile& file);

}  // namespace prof

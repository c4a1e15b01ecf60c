#pragma once
// How a run is measured: which libraries are preloaded, what the runtime is told, where the files go, and
// what is done with them afterwards. Every refusal of `prof run` that compares what is requested with what
// the machine and the program allow is made here, before anything is created.

#include <string>

#include "prof/base/notes.h"
#include "prof/external_sampler/recorder.h"
#include "prof/launch/launch.h"
#include "prof/repair/repair_request.h"
#include "prof/run/directory.h"
#include "prof/run/facts.h"
#include "prof/run/request.h"

namespace prof {

struct RunPlan {
  DirectoryRequest directory;
  Launch launch;                        // execute() adds its directory, and what is known once it exists
  OutsidePlan outside;                  // without its directory, likewise
  std::filesystem::path outside_image;  // the program's ELF file if it is sampled from outside, else empty
  double trigger_cost_s = 0;            // what one sample costs, for run.json
  RepairRequest repairs;
  uint32_t verify = 0;        // pairs of runs with and without the repairs that were found; 0: none
  std::string trial_preload;  // LD_PRELOAD of these: without what isolates pages, and its allocator
  bool analyzes = true;
  Notes notes;
};

// Starts no process and writes no file: the plan follows from its arguments alone. Throws CommandError (125)
// that names the remedy.
RunPlan plan_run(const RunRequest& request, const RunFacts& facts);

}  // namespace prof

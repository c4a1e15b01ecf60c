#pragma once
// The plan of a run: which libraries are preloaded, which settings the runtime gets, where files are written,
// and what is done with them afterwards. All refusals of `prof run` that compare the request with the machine
// and the program are made here, before anything is created.

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
  Launch launch;        // execute() adds its directory, and what is known only once that exists
  OutsidePlan outside;  // execute() adds its directory
  std::filesystem::path outside_image;  // the program's ELF file if it is sampled from outside, else empty
  double trigger_cost_s = 0;            // what one sample costs, for run.json
  RepairRequest repairs;
  uint32_t verify = 0;        // pairs of runs with and without the repairs; 0: none
  std::string trial_preload;  // LD_PRELOAD for those runs: without page isolation and its allocator
  bool analyzes = true;
  Notes notes;
};

// Starts no process and writes no file: the plan depends on the arguments only. Throws CommandError (125)
// that names the remedy.
RunPlan plan_run(const RunRequest& request, const RunFacts& facts);

}  // namespace prof

#pragma once
// Threads that wait for others without a lock: which functions work meanwhile.

#include <string>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// One function and what was waited while it worked.
struct WorkWhileIdle {
  uint32_t context = 0;        // of those in it, where most was waited
  double seconds = 0;          // IDLE_BLAME
  double cpu_s = 0;            // CPU time of the function there
  double idle_threads = 0;     // how many waited, on the average of its time in which some did
  double working_threads = 0;  // how many worked
};

// By function, the longest first.
std::vector<WorkWhileIdle> work_while_idle(const CallTree& tree, const RunSummary& run);

// "4 of 5 threads waited"
std::string format_idle(const WorkWhileIdle& work);

}  // namespace prof

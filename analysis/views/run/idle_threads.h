#pragma once
// Threads that wait for other threads without a lock, by the functions that work meanwhile.

#include <string>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// A function, and the waiting of other threads while it worked.
struct WorkWhileIdle {
  uint32_t context = 0;        // the one in which threads waited most
  double seconds = 0;          // IDLE_BLAME
  double cpu_s = 0;            // CPU time of the function there
  double idle_threads = 0;     // mean number of waiting threads, over its time in which any waited
  double working_threads = 0;  // mean number of working threads
};

// By function, the longest first.
std::vector<WorkWhileIdle> work_while_idle(const CallTree& tree, const RunSummary& run);

// Returns "4 of 5 threads waited".
std::string format_idle(const WorkWhileIdle& work);

}  // namespace prof

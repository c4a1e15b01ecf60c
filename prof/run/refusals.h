#pragma once
// Refusals of `prof run` because of the program or the machine; plan_run() calls them all. Each throws
// CommandError (125) that names the remedy, or does nothing.

#include <vector>

#include "prof/run/facts.h"
#include "prof/run/request.h"

namespace prof {

// In programs that cannot load the runtime, neither locks nor pages are traced, and nothing is repaired.
void refuse_what_only_the_runtime_does(const RunRequest& request, const Target& target);

// Threads become processes only with a recent kernel, and an allocator that works on common memory.
void refuse_isolation_without_means(const RunRequest& request, const RunFacts& facts);

// If the kernel refuses every source of an event, the program would run for nothing.
void refuse_events_without_source(const RunFacts& facts);

// True if only wall time is sampled, which requires the runtime inside the program.
bool only_real_time(const std::vector<hpcrun::EventSpec>& events);

}  // namespace prof

#pragma once
// What `prof run` refuses because the program or the machine does not allow it; plan_run() calls them all.
// Each throws CommandError (125) that names the remedy, or does nothing.

#include <vector>

#include "prof/run/facts.h"
#include "prof/run/request.h"

namespace prof {

// Of programs that the runtime cannot be in, neither locks nor pages are followed, and nothing is repaired.
void refuse_what_only_the_runtime_does(const RunRequest& request, const Target& target);

// Threads become processes by a kernel that is new enough, with an allocator that suits common memory.
void refuse_isolation_without_means(const RunRequest& request, const RunFacts& facts);

// If the kernel refuses whatever an event could be sampled by, the program would run for nothing.
void refuse_events_without_source(const RunFacts& facts);

// True if nothing but wall time is sampled, which needs the runtime inside the program.
bool only_real_time(const std::vector<hpcrun::EventSpec>& events);

}  // namespace prof

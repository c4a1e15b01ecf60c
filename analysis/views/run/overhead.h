#pragma once
// The cost of measuring the program, by its parts. The runtime times its handling of samples, because samples
// cannot show it. The time of intercepted calls (of allocators, locks, devices) in the runtime is sampled
// like other code.

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns the run's summary, with the CPU time in intercepted calls as sampled, which then is part of
// overhead_cpu_s. Adds nothing if no CPU time was sampled.
RunSummary run_summary_with_hooks(const CallTree& tree);

// Returns the largest part of the overhead; None if the parts are not known.
enum class OverheadPart : uint8_t { None, Samples, Start, Hooks };
OverheadPart largest_part(const RunSummary& run);

}  // namespace prof

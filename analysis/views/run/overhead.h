#pragma once
// What measuring cost the program, by its parts. Samples cannot see what they cost themselves, which the
// runtime times; but what intercepted calls (of allocators, locks, devices) take in the runtime is sampled
// as all else is.

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// The run's summary, with the CPU time in intercepted calls as sampled, which is part of overhead_cpu_s then.
// Nothing is added if no CPU time was sampled.
RunSummary run_summary_with_hooks(const CallTree& tree);

// Which part of the overhead is the largest; None if the parts are not known.
enum class OverheadPart : uint8_t { None, Samples, Start, Hooks };
OverheadPart largest_part(const RunSummary& run);

}  // namespace prof

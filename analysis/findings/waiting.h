#pragma once
// A program that waits most of its time, which a profile of CPU time does not show, as a finding: how much it
// waited, where it waited if elapsed time was sampled as well, and otherwise what to measure.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns nothing for a program that kept a processor busy for most of its time, or if the run did not record
// how long it took.
std::vector<Finding> waiting_findings(const CallTree& tree, const RunSummary& run);

}  // namespace prof

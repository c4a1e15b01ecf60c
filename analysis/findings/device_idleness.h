#pragma once
// Idle devices, and threads that wait for them, as findings: a sentence for each place that is worth a
// change.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/idleness.h"

namespace prof {

// Returns the findings by falling share of the run.
std::vector<Finding> device_idleness_findings(const Idleness& idleness);

}  // namespace prof

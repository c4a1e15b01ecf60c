#pragma once
// Costs and severities of findings, computed in the same way for all kinds.

#include <string>

#include "analysis/findings/finding.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns High from `high` on, Medium from `medium` on, otherwise Low.
Severity severity_of(double value, double medium, double high);

// A saving of which only the upper bound is known.
FindingSaving at_most(double seconds, std::string basis);

// Returns a finding of this kind with its metric, and its cost as a share of the first metric's total.
Finding costed_finding(const CallTree& tree, FindingKind kind, const Metric& metric, double value);

}  // namespace prof

#pragma once
// Findings about the measurement itself, not about the program: how well it was sampled, what that cost, and
// what is missing. Used by find(), with what both kinds of findings are made of.

#include <vector>

#include "analysis/views/findings.h"

namespace prof {

// In no order. Where nothing was measured it says so, and why.
std::vector<Finding> measurement_findings(const CallTree& tree, const RunSummary& run);

bool has_no_costs(const CallTree& tree);

Severity severity_of(double value, double medium, double high);

// A finding of this kind with its metric, and its cost as a share of the first metric's total.
Finding costed_finding(const CallTree& tree, FindingKind kind, const Metric& metric, double value);

}  // namespace prof

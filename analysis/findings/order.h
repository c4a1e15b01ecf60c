#pragma once
// The order in which findings are shown.

#include <vector>

#include "analysis/findings/finding.h"

namespace prof {

// Findings about the program come before those about the measurement. Within a severity, those
// with advice come first, then the largest; equal ones keep their order. Gives an id to those without one.
void put_in_order(std::vector<Finding>& findings);

// Inserts more findings in this order. Of equal ones, those already present come first.
void add_findings(std::vector<Finding>& findings, std::vector<Finding> more);

}  // namespace prof

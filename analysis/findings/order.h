#pragma once
// The order in which findings are shown.

#include <vector>

#include "analysis/findings/finding.h"

namespace prof {

// Findings about the program come before those about the measurement. Of the same severity, those that say
// what to change lead, then the largest; equal ones stay as they are. Gives an id to those that have none.
void put_in_order(std::vector<Finding>& findings);

// Puts more findings into this order; of equal ones those that were there come first.
void add_findings(std::vector<Finding>& findings, std::vector<Finding> more);

}  // namespace prof

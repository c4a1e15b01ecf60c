#pragma once
// Sorts findings for display.

#include <vector>

#include "analysis/findings/finding.h"

namespace prof {

// Puts findings on the program before those on the measurement. Within a severity, those with a change to
// make come first, then the largest; the order of equal ones is kept. Gives an id to those that have none.
void put_in_order(std::vector<Finding>& findings);

// Merges more findings into this order. Existing ones come first among equal ones.
void add_findings(std::vector<Finding>& findings, std::vector<Finding> more);

}  // namespace prof

#pragma once
// Merges the same data of several processes, such as the ranks of a parallel program, into one finding.

#include <vector>

#include "analysis/run/contended_record.h"

namespace prof {

// Merges records that agree on the same variable, or on allocations of the same contexts: the most expensive
// one remains, with the sums of all. ContendedRecord::processes is their number. Memory of unknown origin
// stays separate. By falling cost, as each of `records` is.
std::vector<ContendedRecord> merge_processes(std::vector<ContendedRecord> records);

}  // namespace prof

#pragma once
// The same data of several processes, as ranks of a parallel program have them, as one finding.

#include <vector>

#include "analysis/run/contended_record.h"

namespace prof {

// Of records that say the same of the same variable, or of allocations of the same contexts, the costliest
// one, with the sums of all; ContendedRecord::processes says how many. Memory of unknown origin stays apart.
// By falling cost, as each of `records` is.
std::vector<ContendedRecord> merge_processes(std::vector<ContendedRecord> records);

}  // namespace prof

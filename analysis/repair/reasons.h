#pragma once
// Explains why heap layout repair cannot help contended data in the running program, as clauses of a
// sentence.

#include <string>

#include "analysis/run/contended_record.h"

namespace prof {

// Returns an empty string if such allocations can be placed.
std::string reason_not_placed(const ContendedRecord& record, const ContendedRecord::Placeable& one);

// The same for data outside of the heap.
std::string reason_not_moved(const ContendedRecord& record);

}  // namespace prof

#pragma once
// Why data that threads contend for are not laid out anew in the running program, as clauses of a sentence.

#include <string>

#include "analysis/run/contended_record.h"

namespace prof {

// Empty where such allocations can be placed.
std::string why_not_placed(const ContendedRecord& record, const ContendedRecord::Placeable& one);

// The same of data that no allocator has.
std::string why_not_moved(const ContendedRecord& record);

}  // namespace prof

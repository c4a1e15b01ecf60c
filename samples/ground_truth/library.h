#pragma once
// The part in a shared library whose symbols are stripped.

#include "shadow.h"

namespace ground_truth {

using Visitor = uint64_t (*)(Shadow& shadow, uint64_t value);

extern "C" uint64_t gt_library_entry(Shadow& shadow, uint64_t value, uint32_t rounds);
extern "C" uint64_t gt_library_tail(Shadow& shadow, uint64_t value);
extern "C" uint64_t gt_foreach(Shadow& shadow, uint64_t value, Visitor visitor);

}  // namespace ground_truth

#pragma once
// Recognizes the usual causes of wasted stores and loads, by the code and the memory of a pair.

#include <cstdint>

#include "analysis/run/spelling.h"
#include "analysis/views/run/memory_waste.h"

namespace prof {

enum class WastePattern : uint8_t {
  Other,                 // no usual cause
  ClearThenFill,         // memory is cleared, and then stored
  SparseInitialization,  // an array is initialized again and again, and mostly not used
  OversizedClear,        // a buffer is cleared of which only a part is used
  ConstructThenAssign,   // an object is constructed, and then assigned
  RegisterSpill,         // the compiler moved a local variable to the stack
  RepeatedStore,         // a function stores a variable several times
  UnusedLocal,           // a local variable is stored, and its function returns
  SameValue,             // the same value is stored again
  InvariantLoad,         // a function loads a value again that has not changed
  RepeatedLoad,          // another function does
};

// "clear-then-fill", "register-spill"; "other" for none
template <>
std::span<const Spelling<WastePattern>> spellings();

WastePattern pattern_of(const WastePair& pair, const WastePaths& paths);

// True if the access is in a function that sets memory to one value, such as memset().
bool is_clearing(const std::vector<CodeFrame>& frames);

// True if the access is in a constructor.
bool is_constructing(const std::vector<CodeFrame>& frames);

}  // namespace prof

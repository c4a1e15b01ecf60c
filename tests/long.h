// tests/long.h: what tests leave out unless they may take long.
#pragma once

#include <cstddef>
#include <cstdlib>

// True under `tools/test --long`, where a list is run in full of which a test else takes a part.
inline bool may_take_long() {
  return std::getenv("PROF_LONG") != nullptr;
}

// The distance between the items of a list that a test takes: 1 under `tools/test --long`, else `part`.
inline size_t step_of(size_t part) {
  return may_take_long() ? 1 : part;
}

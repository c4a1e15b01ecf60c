// Skips parts of tests that take long, unless long tests are requested.
#pragma once

#include <cstddef>
#include <cstdlib>

// True under `tools/test --long`: tests then use full lists, else a part of them.
inline bool may_take_long() {
  return std::getenv("PROF_LONG") != nullptr;
}

// Returns the step between the items of a list that a test uses: 1 under `tools/test --long`, else `part`.
inline size_t step_of(size_t part) {
  return may_take_long() ? 1 : part;
}

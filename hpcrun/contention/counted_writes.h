#pragma once
// What threads write on pages that each has for itself (isolating.h), counted as SHERIFF-DETECT does. What
// lay on a line is told to the measurement file as it is released, so that what comes in its place begins
// anew (SHERIFF, section 4.5), or at the end. All calls are async-signal-safe.

#include "hpcrun/contention/written_lines.h"

namespace hpcrun {

extern constinit WrittenLines written_lines;

// Updates of a line after those of other threads, of which a finding has more (SHERIFF, section 4.6).
constexpr uint32_t kMinInterleaved = 100;

// The calling thread changed these bytes of the line, a bit for each (IsolationCallbacks::changed).
void note_changed_line(uint64_t line, uint64_t bytes) noexcept;

// Writes down what threads changed by turns in the allocation that starts there, which is released. Has no
// effect if the allocation is not known.
void record_released(uint64_t start) noexcept;

// Writes down what of the range threads changed by turns, and forgets it. What lies there must be known still
// (heap.h).
void record_written_lines(uint64_t low, uint64_t high) noexcept;

}  // namespace hpcrun

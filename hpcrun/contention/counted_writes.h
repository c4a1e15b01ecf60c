#pragma once
// Counts what threads write to their private pages (repair/isolate), as SHERIFF-DETECT does. The counts of a
// line go to the measurement file when the data there is released, so that the next data starts at zero
// (SHERIFF, section 4.5), or when measuring ends. All calls are async-signal-safe.

#include "hpcrun/contention/written_lines.h"

namespace hpcrun {

extern constinit WrittenLines written_lines;

// A finding needs more updates of a line that follow another thread's (SHERIFF, section 4.6).
constexpr uint32_t kMinInterleaved = 100;

// Records that the calling thread changed these bytes of the line, one bit each
// (IsolationCallbacks::changed).
void note_changed_line(uint64_t line, uint64_t bytes) noexcept;

// Writes down what threads changed alternately in the allocation that starts there, which is being released.
// Has no effect if the allocation is not known.
void record_released(uint64_t start) noexcept;

// Writes down what threads changed alternately in the range, and resets the counts. The data there must still
// be known (heap.h).
void record_written_lines(uint64_t low, uint64_t high) noexcept;

}  // namespace hpcrun

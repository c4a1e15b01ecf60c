#pragma once
// Determines when launches ran, from the driver's records. The driver writes them to our buffers, and returns
// these when they are full or requested. Thread-safe; not async-signal-safe.

#include <cstdint>

#include "hpcrun/device/cuda/objects.h"

namespace hpcrun::cuda {

// Must be called before anything is recorded. Returns CUPTI_SUCCESS, or the error.
CUptiResult start_records() noexcept;

// Requests the records of what has run, if there is any. `force`: also of what has not ended.
void flush_records(bool force) noexcept;
// The same, if it was not done for a while, for programs that never wait, or are killed.
void flush_at_times() noexcept;

// Must be called as the process ends, while the driver still works. Requests all records, and reports what
// was lost.
void finish_records() noexcept;

// Resets the state in a forked child.
void reset_records_after_fork() noexcept;

}  // namespace hpcrun::cuda

#pragma once
// From launches to the times at which they ran: the driver writes records of what has run into buffers of
// ours, and hands them back when they are full or asked for. Thread-safe; not async-signal-safe.

#include <cstdint>

#include "hpcrun/device/cuda/objects.h"

namespace hpcrun::cuda {

// Before anything is recorded. CUPTI_SUCCESS, or why not.
CUptiResult start_records() noexcept;

// Asks for the records of what has run, if there is anything to ask for; `force`: also of what has not ended.
void flush_records(bool force) noexcept;
// The same, when that was long ago: programs that never wait, or are killed.
void flush_at_times() noexcept;

// At the process's end, while the driver still works: asks for all records, and tells what was lost.
void finish_records() noexcept;

// In a forked child.
void forget_records() noexcept;

}  // namespace hpcrun::cuda

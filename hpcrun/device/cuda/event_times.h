#pragma once
// From launches to the times at which they ran, without CUPTI: an event before each launch and one behind it,
// in its stream, whose times are asked for when they have passed. Kernels that the device executed one after
// the other, but whose events it took at once, seem to have run at once. Thread-safe; not async-signal-safe.

#include <cstdint>

#include "hpcrun/device/cuda/outstanding.h"

namespace hpcrun::cuda {

// From now on times are found out like this. False: the driver lacks functions that this takes.
bool start_event_times() noexcept;
bool uses_event_times() noexcept;

// Around the driver's function that does what was submitted by the call with this id; `context` is current,
// and `stream` is no 0, whose meaning depends on the variant of a function. `latest_ns`: the launch had ended
// by then; UINT64_MAX: that is not known.
void begin_event_time(uint32_t id, CUcontext context, CUstream stream) noexcept;
void end_event_time(uint32_t id, CUstream stream, uint64_t latest_ns) noexcept;
// The driver refused it; the launch is still there.
void abandon_event_time(uint32_t id) noexcept;

// Completes what has ended.
void collect_event_times() noexcept;
// The same, when that was long ago: programs that never wait.
void collect_event_times_now_and_then() noexcept;

// The program is about to destroy the context, and its events with it; it has, or it has not.
void suspend_context(CUcontext context) noexcept;
void end_suspension(CUcontext context, bool is_destroyed) noexcept;

// At the process's end, while the driver still works: collects, and tells what was not timed.
void finish_event_times() noexcept;

// In a forked child.
void forget_event_times() noexcept;

}  // namespace hpcrun::cuda

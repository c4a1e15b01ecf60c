#pragma once
// Determines when launches ran without CUPTI. An event is recorded in the stream before and after each
// launch, and their times are read once they have passed. Kernels that the device executed one after the
// other, but whose events it took at once, appear to have run at once. Thread-safe; not async-signal-safe.

#include <cstdint>

#include "hpcrun/device/cuda/outstanding.h"

namespace hpcrun::cuda {

// Starts timing by events. Returns false if the driver lacks the functions for it.
bool start_event_times() noexcept;
bool uses_event_times() noexcept;

// Must be called around the driver's function for a launch that the call with this id submitted. `context`
// must be current. `stream` must not be 0, whose meaning depends on the function's variant. `latest_ns`: the
// launch had ended by then; UINT64_MAX: not known.
void begin_event_time(uint32_t id, CUcontext context, CUstream stream) noexcept;
void end_event_time(uint32_t id, CUstream stream, uint64_t latest_ns) noexcept;
// Cancels the timing of a launch that the driver refused; the launch remains.
void cancel_event_time(uint32_t id) noexcept;

// Completes tasks that have ended.
void collect_event_times() noexcept;
// The same, if it was not done for a while, for programs that never wait.
void collect_event_times_now_and_then() noexcept;

// Must be called before the program destroys the context, and its events with it, and after that succeeded or
// failed.
void suspend_context(CUcontext context) noexcept;
void end_suspension(CUcontext context, bool is_destroyed) noexcept;

// Must be called as the process ends, while the driver still works. Collects, and reports what was not timed.
void finish_event_times() noexcept;

// Resets the state in a forked child.
void reset_event_times_after_fork() noexcept;

}  // namespace hpcrun::cuda

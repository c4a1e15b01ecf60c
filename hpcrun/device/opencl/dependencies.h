#pragma once
// Finds the commands of other queues that a command waits for by the events of its wait list. Thread-safe;
// not async-signal-safe.

#include "hpcrun/device/opencl/queues.h"

namespace hpcrun::opencl {

struct Dependencies;  // of one command; holds references to the events

// Returns what a command of `queue` waits for: commands of other queues that are not known to have ended.
// Returns nullptr if there is none, or no memory. Must be ended by release() or latest_end().
Dependencies* dependencies_on_others(const Queue& queue, cl_uint count, const cl_event* list) noexcept;

// Accepts nullptr.
void release(Dependencies* dependencies) noexcept;

// Returns the dependency that ended last, and releases all. Must be called after the command has ended;
// `now_ns`: a later time of CLOCK_MONOTONIC. An end of 0 means that nullptr was given, or that the device
// reports no times.
AwaitedTask latest_end(Dependencies* dependencies, uint64_t now_ns) noexcept;

// Resets the state in a forked child.
void reset_dependencies_after_fork() noexcept;

}  // namespace hpcrun::opencl

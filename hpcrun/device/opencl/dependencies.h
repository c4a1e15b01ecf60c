#pragma once
// The commands of other queues that a command waits for by the events of its wait list. Thread-safe; not
// async-signal-safe.

#include "hpcrun/device/opencl/queues.h"

namespace hpcrun::opencl {

struct Dependencies;  // of one command; holds references to the events

// Returns what a command of `queue` waits for: commands of other queues whose end is not known yet. nullptr
// if there is none, or no memory. Ended by release() or latest_end().
Dependencies* dependencies_on_others(const Queue& queue, cl_uint count, const cl_event* list) noexcept;

// Accepts nullptr.
void release(Dependencies* dependencies) noexcept;

// Returns the one of them that ended last, and releases all. For a command that has ended; `now_ns`: not
// before that, in ns of CLOCK_MONOTONIC. An end of 0: nullptr was given, or the device reports no times.
AwaitedTask latest_end(Dependencies* dependencies, uint64_t now_ns) noexcept;

// In a forked child.
void forget_dependencies() noexcept;

}  // namespace hpcrun::opencl

#pragma once
// Measures the last tasks of devices in a process that ends by _exit(), if their interface responds in time.
// _exit() may be called by a handler that interrupted that interface. Therefore a thread of ours, which
// sleeps until then, calls the interface. The process waits for it for at most kSuddenEndTimeoutNs.

#include <cstdint>

namespace hpcrun {

constexpr uint64_t kSuddenEndTimeoutNs = 200'000'000;

// Must be called in the measured process itself, before its end. Async-signal-safe.
void end_devices_suddenly() noexcept;

// Resets the state in a forked child, which has no such thread.
void reset_sudden_end_after_fork() noexcept;

}  // namespace hpcrun

#pragma once
// A process that ends by _exit() still has its devices' last tasks measured, if their interface answers in
// time. _exit() may be called by a handler, in the middle of that interface: so a thread of ours calls it,
// which sleeps until then, and is waited for no longer than kPatience_ns.

#include <cstdint>

namespace hpcrun {

constexpr uint64_t kPatience_ns = 200'000'000;

// In the measured process itself, before its end. Async-signal-safe.
void end_devices_suddenly() noexcept;

// In a forked child, which has no such thread.
void forget_sudden_end() noexcept;

}  // namespace hpcrun

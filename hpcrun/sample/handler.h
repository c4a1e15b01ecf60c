#pragma once
// What happens at a sample: the handlers of our signals, from the interrupted context to metric and trace.
// Everything here is async-signal-safe.

#include <csignal>
#include <cstdint>

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Marks perf events as ours in siginfo's perf data (upper half; the event's index is the lower half).
constexpr uint64_t kPerfCookie = 0x70726f66;  // "prof"
constexpr uint64_t perf_signal_data(uint32_t event) {
  return kPerfCookie << 32 | event;
}

// The same of breakpoints (hpcrun/memory/watch.h), with the lowest 16 bits free.
constexpr uint64_t kWatchSignalData = kPerfCookie << 32 | 0x8000'0000u;

// si_code of a SIGTRAP that a perf event raised (Linux uapi asm-generic/siginfo.h; newer than glibc 2.36's
// header).
constexpr int kTrapPerf = 6;

// True when one of our events or timers raised the signal, false when it is the program's own.
bool is_our_sample(int signal, const siginfo_t& info) noexcept;

// Records one of ours, or counts it as dropped, and is true. False for the program's own, which has to be
// forwarded.
bool handle_sample_signal(int signal, const siginfo_t& info, void* context) noexcept;

// Notes the name of the calling thread, whose state it is, when it is time to. `now` is CLOCK_MONOTONIC in
// ns.
void look_at_name(ThreadState& thread, uint64_t now) noexcept;

// Reads the clocks anew so that the next sample is weighted from now on. When a thread starts.
void start_clocks(ThreadState& thread) noexcept;

}  // namespace hpcrun

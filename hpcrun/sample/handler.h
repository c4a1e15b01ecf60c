#pragma once
// Handles samples: the handlers of our signals, from the interrupted context to metric and trace. Everything
// here is async-signal-safe.

#include <csignal>
#include <cstdint>

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Marks perf events as ours in siginfo's perf data (upper half; the event's index is the lower half).
constexpr uint64_t kPerfCookie = 0x70726f66;  // "prof"
constexpr uint64_t perf_signal_data(uint32_t event) {
  return kPerfCookie << 32 | event;
}

// The same for breakpoints, with bits 0 to 30 free (breakpoint_signal_data()).
constexpr uint64_t kBreakpointSignalData = kPerfCookie << 32 | 0x8000'0000u;

// si_code of a SIGTRAP raised by a perf event (Linux uapi asm-generic/siginfo.h; newer than glibc 2.36's
// header).
constexpr int kTrapPerf = 6;

// True if one of our events or timers raised the signal, false if it is the program's own.
bool is_our_sample(int signal, const siginfo_t& info) noexcept;

// Records one of our samples, or counts it as dropped, and returns true. Returns false for the program's own
// signals, which must be forwarded.
bool handle_sample_signal(int signal, const siginfo_t& info, void* context) noexcept;

// Records the name of the calling thread, whose state is `thread`, if it is due. `now` is CLOCK_MONOTONIC in
// ns.
void look_at_name(ThreadState& thread, uint64_t now) noexcept;

// Reads the clocks, so that the next sample's weight counts from now. Must be called when a thread starts.
void start_clocks(ThreadState& thread) noexcept;

}  // namespace hpcrun

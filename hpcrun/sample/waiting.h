#pragma once
// Handles system calls that wait while a sampled clock advances. Even with SA_RESTART, a signal makes
// nanosleep, poll and similar calls return EINTR, and large reads and writes return early (signal(7)).
// Therefore sources that raise a signal while a thread waits (timers on the monotonic clock, F_SETSIG) have
// it blocked in the kernel during such a call. One expiration stays pending and is delivered as the call
// returns, in the same calling context, with the weight of the whole wait.
//
// A process that is killed takes no more samples. For that case the file has the start and the context of
// each wait in progress, and the reader creates the sample. All calls are async-signal-safe.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Returns the signals to block in the kernel while a thread waits, bit n-1 for signal n; 0 if there are none.
inline uint64_t wait_signals() noexcept {
  if (!process_state.protects_waits) return 0;
  const auto bit = [](int signal) { return signal ? uint64_t{1} << (signal - 1) : 0; };
  return bit(process_state.timer_signal) | bit(process_state.spare_signal);
}

// The function that the program called, and the call.
struct WaitSite {
  const void* function = nullptr;  // the C library's
  uint64_t caller = 0;             // return address
  uint64_t frame = 0;              // a value that is equal for two calls from the same activation
};

// A wait of the calling thread, from begin() to end() or leave_waits().
class Wait {
 public:
  // Begins a wait. Returns false, without effect, if no signals need to be blocked.
  bool begin(const WaitSite& site) noexcept;
  void end() noexcept;

 private:
  ThreadState* thread_ = nullptr;
  uint32_t outer_ = 0;  // waits open around this one
  uint64_t signals_ = 0;
};

// Ends all waits of a thread that continues outside the waiting calls (a jump out of a signal handler), or
// starts something that inherits its mask. Harmless in a handler that returns to the wait: the kernel then
// restores the mask.
void leave_waits() noexcept;

// Returns the call path as if the program had called the C library itself: without our functions in between.
Stack as_called(const ThreadState& thread, Stack stack) noexcept;

}  // namespace hpcrun

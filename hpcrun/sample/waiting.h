#pragma once
// System calls that wait, and samples of a clock that goes on meanwhile. Even with SA_RESTART a signal makes
// nanosleep, poll and their like return EINTR, and large reads and writes return what they did so far
// (signal(7)). So the sources that raise a signal while a thread waits (timers on the monotonic clock,
// F_SETSIG) have it blocked in the kernel for the length of such a call; one expiration stays pending and is
// taken as the call returns, in the same calling context, worth the whole time.
//
// A process that is killed takes no more samples: the file knows of each wait under way since when and in
// which context, and the reader makes the sample. All calls are async-signal-safe.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// The signals to block in the kernel while a thread waits, bit n-1 for signal n; 0 when there are none.
inline uint64_t wait_signals() noexcept {
  if (!process_state.protects_waits) return 0;
  const auto bit = [](int signal) { return signal ? uint64_t{1} << (signal - 1) : 0; };
  return bit(process_state.timer_signal) | bit(process_state.spare_signal);
}

// What the program called and where from.
struct WaitSite {
  const void* function = nullptr;  // the C library's
  uint64_t caller = 0;             // return address
  uint64_t frame = 0;              // something that is the same for two calls from the same activation
};

// A wait of the calling thread, from begin() to end() or leave_waits().
class Wait {
 public:
  // False, and then without effect, where there is nothing to protect from.
  bool begin(const WaitSite& site) noexcept;
  void end() noexcept;

 private:
  ThreadState* thread_ = nullptr;
  uint32_t outer_ = 0;  // waits open around this one
  uint64_t signals_ = 0;
};

// The thread goes on outside the calls that it waits in (a jump out of a signal handler), or starts something
// that inherits its mask. No harm in a handler that returns to the wait: the kernel then blocks again what
// was blocked.
void leave_waits() noexcept;

// The call path as if the program had called the C library itself: without our functions in between.
Stack as_called(const ThreadState& thread, Stack stack) noexcept;

}  // namespace hpcrun

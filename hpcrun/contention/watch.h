#pragma once
// Sets hardware breakpoints in another thread on the words of one cache line, to confirm its accesses. The
// four debug registers of a processor cover half a line. A breakpoint disarms itself after a few hits. Each
// hit raises a SIGTRAP of perf in the thread, after the instruction that made the access. Async-signal-safe.
//
// Arming takes about 10 us per breakpoint, and a hit takes 20 us of the thread's time.

#include <cstdint>

namespace hpcrun {

constexpr uint32_t kWatchedWords = 4;
constexpr uint32_t kWordBytes = 8;

class Watch {
 public:
  // Watches words of a line in thread `tid` of this process, for `hits` accesses each. `words` has a bit for
  // each, at most kWatchedWords. Signals carry `signal_data` plus the number of the word. Returns the number
  // of breakpoints, or a negated errno if there is none: ENOSPC if a debugger uses the registers, EACCES or
  // EPERM if perf is forbidden, ESRCH if the thread has ended.
  int arm(int tid, uint64_t line, uint8_t words, uint32_t hits, uint64_t signal_data) noexcept;

  // Removes all breakpoints. Signals that were raised before may still arrive.
  void disarm() noexcept;

  bool is_armed() const noexcept { return count_; }

 private:
  int descriptors_[kWatchedWords] = {};
  uint32_t count_ = 0;
};

}  // namespace hpcrun

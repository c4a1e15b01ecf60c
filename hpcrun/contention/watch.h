#pragma once
// Hardware breakpoints in another thread, on the words of one cache line: who is there, and where exactly.
// The four registers of a processor cover half a line. Each breakpoint disarms itself after a few hits; every
// hit raises a SIGTRAP of perf's in the thread, after the instruction that made it. Async-signal-safe.
//
// Arming takes about 10 us a breakpoint, a hit 20 us of the thread's time.

#include <cstdint>

namespace hpcrun {

constexpr uint32_t kWatchedWords = 4;
constexpr uint32_t kWordBytes = 8;

class Watch {
 public:
  // Watches the words whose bits are set in `words`, kWatchedWords of them at most, of the line at this
  // address, for `hits` accesses each, in thread `tid` of this process. `signal_data` comes back in the
  // signals with the number of the word added. How many breakpoints there are, or a negated errno when there
  // is none: ENOSPC where a debugger holds the registers, EACCES or EPERM where perf is forbidden, ESRCH for
  // a thread that is gone.
  int arm(int tid, uint64_t line, uint8_t words, uint32_t hits, uint64_t signal_data) noexcept;

  // Takes all back. Signals that are under way still come.
  void disarm() noexcept;

  bool is_armed() const noexcept { return count_; }

 private:
  int descriptors_[kWatchedWords] = {};
  uint32_t count_ = 0;
};

}  // namespace hpcrun

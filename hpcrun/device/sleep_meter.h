#pragma once
// Measures how long a thread slept, if only CPU time is sampled: a sample represents none of that time. A
// thread that waited for a processor did not sleep; such time is blamed as usual. Async-signal-safe.

#include <cstdint>

namespace hpcrun {

struct ThreadUsage {
  uint64_t cpu_ns = 0;
  uint64_t sleeps = 0;  // number of times that it gave up its processor
};

// Returns the calling thread's usage, by two system calls of about 0.3 µs each.
ThreadUsage thread_usage() noexcept;

class SleepMeter {
 public:
  void restart(const ThreadUsage& now) noexcept { last_ = now; }

  // Returns the sleep within the `elapsed` ns since the last call or restart. `since`: ns on the processor
  // that elapsed after that.
  uint64_t slept(uint64_t elapsed, const ThreadUsage& now, uint64_t since = 0) noexcept {
    const uint64_t used = now.cpu_ns - last_.cpu_ns;
    const uint64_t worked = used - (used < since ? used : since);
    const bool gave_way = now.sleeps != last_.sleeps;
    last_ = now;
    return gave_way && elapsed > worked ? elapsed - worked : 0;
  }

 private:
  ThreadUsage last_;
};

}  // namespace hpcrun

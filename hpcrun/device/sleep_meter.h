#pragma once
// What of a thread's time it slept, where only CPU time is sampled: nothing of it is then a sample's. A
// thread that had to wait for a processor did not sleep, and is to blame for that time as for any.
// Async-signal-safe.

#include <cstdint>

namespace hpcrun {

struct ThreadUsage {
  uint64_t cpu_ns = 0;
  uint64_t sleeps = 0;  // how often it gave its processor away
};

// Of the calling thread, by two system calls, of about 0.3 µs each.
ThreadUsage thread_usage() noexcept;

class SleepMeter {
 public:
  void restart(const ThreadUsage& now) noexcept { last_ = now; }

  // Of `elapsed` ns since the last call or restart; `since` ns have gone by on the processor after that.
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

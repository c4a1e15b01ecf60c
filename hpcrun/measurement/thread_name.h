#pragma once
// The name of one thread as it changes. A program may name its threads anew for every request: names are
// written a few at once and ten a second from then on, and the last in any case. Callable from any thread and
// from a handler; never waits. Two threads at once that note different names may leave the older one, until
// the next look.

#include <atomic>
#include <cstdint>

#include "hpcrun/measurement/writer.h"

namespace hpcrun {

class ThreadName {
 public:
  // The name that the thread's start record has.
  void begin(const char* name) noexcept;

  // Is it time to look what the name is now? True at most ten times a second. Times are CLOCK_MONOTONIC in
  // ns.
  bool is_due(uint64_t now) noexcept {
    if (now < next_look_ns_.load(std::memory_order_relaxed)) return false;
    next_look_ns_.store(now + kPeriodNs, std::memory_order_relaxed);
    return true;
  }

  // The name was this one at `now` or after. Written when it is another.
  void note(MeasurementFile& file, uint32_t thread, const char* name, uint64_t now) noexcept;

  // The same for what no other will follow.
  void note_last(MeasurementFile& file, uint32_t thread, const char* name, uint64_t now) noexcept;

 private:
  static constexpr uint64_t kPeriodNs = 100'000'000;
  static constexpr uint64_t kAtOnce = 16;

  bool is(const char* name) const noexcept;
  bool may_write(uint64_t now) noexcept;

  std::atomic<uint64_t> words_[2] = {};  // the name that was written last, of 15 characters at most
  std::atomic<uint64_t> next_look_ns_{0};
  std::atomic<uint64_t> next_write_ns_{0};
};

}  // namespace hpcrun

#pragma once
// Records the name of one thread as it changes. A program may rename its threads for every request. Therefore
// the first few names are written at once, then ten a second, and always the last one. Can be called from any
// thread and from handlers; never waits. If two threads record different names at the same time, the older
// one may remain until the next check.

#include <atomic>
#include <cstdint>

#include "hpcrun/measurement/writer.h"

namespace hpcrun {

class ThreadName {
 public:
  // Sets the name in the thread's start record.
  void begin(const char* name) noexcept;

  // True if the name should be checked now, at most ten times a second. Times are CLOCK_MONOTONIC in ns.
  [[nodiscard]] bool is_due(uint64_t now) noexcept {
    if (now < next_look_ns_.load(std::memory_order_relaxed)) return false;
    next_look_ns_.store(now + kPeriodNs, std::memory_order_relaxed);
    return true;
  }

  // Records that the thread had this name at `now` or later. Written only if it has changed.
  void note(MeasurementFile& file, uint32_t thread, const char* name, uint64_t now) noexcept;

  // The same for the last name, which is always written if it has changed.
  void note_last(MeasurementFile& file, uint32_t thread, const char* name, uint64_t now) noexcept;

 private:
  static constexpr uint64_t kPeriodNs = 100'000'000;
  static constexpr uint64_t kAtOnce = 16;

  [[nodiscard]] bool is(const char* name) const noexcept;
  bool may_write(uint64_t now) noexcept;

  std::atomic<uint64_t> words_[2] = {};  // the last name written, of at most 15 characters
  std::atomic<uint64_t> next_look_ns_{0};
  std::atomic<uint64_t> next_write_ns_{0};
};

}  // namespace hpcrun

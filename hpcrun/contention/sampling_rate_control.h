#pragma once
// Controls the sampling rate of a search for contention. The rate is low until samples find two threads at
// one cache line to which one of them writes. It is then high for a while, and for longer if contention is
// confirmed. After such a search, the rate stays low for some time, which grows from search to search. The
// reasons: most programs do not contend, some contend permanently for data that cannot be repaired, and
// signals are the largest part of a sample's cost.
//
// One per process, shared by all threads without locks. Async-signal-safe. Times are CLOCK_MONOTONIC in ns.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class SamplingRateControl {
 public:
  static constexpr uint64_t kSearchNs = 400'000'000;     // high rate, after threads were found at one line
  static constexpr uint64_t kSeenNs = 3'000'000'000;     // the same, after contention was confirmed
  static constexpr uint64_t kMinRestNs = 2'000'000'000;  // low rate, after a search
  static constexpr uint64_t kMaxRestNs = 16'000'000'000;

  enum class Change : uint8_t { None, Often, Seldom };

  // Must be called at each sample.
  Change sampled(uint64_t now_ns) noexcept;
  // Must be called when samples find threads at one line.
  Change met(uint64_t now_ns) noexcept;
  // Must be called when contention is confirmed.
  Change seen(uint64_t now_ns) noexcept;

  // Ends a search at once, because nothing that was confirmed needs more of it. Has no effect on a search
  // that has confirmed nothing yet.
  Change settled(uint64_t now_ns) noexcept;

  // Ends a search at once, because nothing can be found now. The next one begins after a rest in proportion
  // to the length of this one.
  Change call_off(uint64_t now_ns) noexcept;

  // Returns the end of the rest after the last search, or 0 if there is none.
  uint64_t rests_until(uint64_t now_ns) const noexcept {
    const uint64_t until = rest_until_ns_.load(std::memory_order_relaxed);
    return is_often_.load(std::memory_order_relaxed) || now_ns >= until ? 0 : until;
  }

 private:
  Change end(uint64_t now_ns) noexcept;

  std::atomic<bool> is_often_{false};
  std::atomic<bool> has_seen_{false};       // in this search
  std::atomic<uint64_t> since_ns_{0};       // start of the present state
  std::atomic<uint64_t> until_ns_{0};       // end of this search
  std::atomic<uint64_t> rest_until_ns_{0};  // no search begins before
  std::atomic<uint64_t> rest_ns_{kMinRestNs};
};

}  // namespace hpcrun

#pragma once
// How often threads are to be sampled so that it is found whether they contend: seldom, until two of them are
// found at a line to which one writes; then often, for a while, which is longer where they were seen to
// contend. By then it is known what is to be known of that, and it is some time until it is tried again,
// longer each time. Most programs have nothing to be found, others contend all the time for what cannot be
// repaired, and signals are what samples cost most.
//
// Shared by all threads of a process, without locks; async-signal-safe. Times are CLOCK_MONOTONIC in ns.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class SamplingRateControl {
 public:
  static constexpr uint64_t kSearchNs = 400'000'000;     // often, after threads met
  static constexpr uint64_t kSeenNs = 3'000'000'000;     // the same, where they were seen to contend
  static constexpr uint64_t kMinRestNs = 2'000'000'000;  // seldom, after a search
  static constexpr uint64_t kMaxRestNs = 16'000'000'000;

  enum class Change : uint8_t { None, Often, Seldom };

  // At each sample.
  Change sampled(uint64_t now_ns) noexcept;
  // Threads were found to meet at a line.
  Change met(uint64_t now_ns) noexcept;
  // They were seen to contend, for certain.
  Change seen(uint64_t now_ns) noexcept;

  // Nothing of what threads were seen to contend for is worth a search any more: it is over at once, as if it
  // had come to its end. Nothing changes in one in which nothing was seen yet.
  Change settled(uint64_t now_ns) noexcept;

  // There is nothing to be found now: seldom at once, and until a rest in proportion to the search is over.
  Change call_off(uint64_t now_ns) noexcept;

  // A search has told lately what there is to be told: until when that holds, else 0.
  uint64_t rests_until(uint64_t now_ns) const noexcept {
    const uint64_t until = rest_until_ns_.load(std::memory_order_relaxed);
    return is_often_.load(std::memory_order_relaxed) || now_ns >= until ? 0 : until;
  }

 private:
  Change end(uint64_t now_ns) noexcept;

  std::atomic<bool> is_often_{false};
  std::atomic<bool> has_seen_{false};       // in this search
  std::atomic<uint64_t> since_ns_{0};       // so long,
  std::atomic<uint64_t> until_ns_{0};       // until then
  std::atomic<uint64_t> rest_until_ns_{0};  // nothing is a reason to search before
  std::atomic<uint64_t> rest_ns_{kMinRestNs};
};

}  // namespace hpcrun

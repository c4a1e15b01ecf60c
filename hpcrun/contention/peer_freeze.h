#pragma once
// Freezes the other threads at a contended cache line for some milliseconds, to measure how fast one thread
// proceeds without contention (loop_progress.h). Threads stop in the handlers of their own samples. They
// continue when the time is over, even if the requesting thread has ended.
//
// One per process; one freeze at a time. All calls are made in handlers, are async-signal-safe and take no
// lock. Times are CLOCK_MONOTONIC in ns.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class PeerFreeze {
 public:
  static constexpr uint64_t kMaxNs = 20'000'000;        // of one freeze, from its request on
  static constexpr uint64_t kRestNs = 40'000'000;       // between two freezes
  static constexpr uint64_t kLongRestNs = 500'000'000;  // after the first kFirstHolds
  static constexpr uint32_t kFirstHolds = 16;

  // Requests that the `others` (1 or more) that use the line stop, unless the last freeze was too recent.
  void ask(uint64_t line, uint32_t thread, uint32_t others, uint64_t now_ns) noexcept;

  // Must be called by each thread that is sampled at the line; does not return while it is frozen. Returns
  // true if it was.
  bool stay(uint64_t line, uint32_t thread, uint64_t now_ns) noexcept;

  bool is_for(uint32_t thread) const noexcept;

  // Returns true if all others were frozen from `since` to `until`, for the requesting thread.
  bool lasted(uint64_t since, uint64_t until) const noexcept;

  // Returns true if no thread has been frozen since then.
  bool was_free(uint64_t since) const noexcept;

  // Returns true if the time of the freeze is over.
  bool is_over(uint64_t now_ns) const noexcept {
    return now_ns >= deadline_ns_.load(std::memory_order_relaxed);
  }

  // Ends the freeze. Must be called by the requesting thread.
  void release(uint64_t now_ns) noexcept;

  // Ends freezes permanently. Must not be called in a handler.
  void stop() noexcept;

 private:
  enum class Phase : uint32_t { Free = 0, Changing = 1, Asked = 2, Stopped = 3 };
  static constexpr uint32_t kPhases = 4;
  static Phase phase_of(uint32_t turn) noexcept { return static_cast<Phase>(turn % kPhases); }

  std::atomic<uint32_t> turn_{0};  // the phase, and above it the number of freezes; frozen threads wait on it
  std::atomic<uint64_t> line_{0};
  std::atomic<uint32_t> thread_{0};
  std::atomic<uint32_t> wanted_{0};
  std::atomic<uint32_t> held_{0};
  std::atomic<uint64_t> all_held_ns_{0};  // 0: not yet
  std::atomic<uint64_t> deadline_ns_{0};
  std::atomic<uint64_t> last_held_ns_{0};  // the end of the last freeze
  std::atomic<uint64_t> next_ns_{0};
};

}  // namespace hpcrun

#pragma once
// Pauses and resumes measuring. The state is in the live counters of the measurement file, which the measured
// process and `prof` both map. Either can change it, and no signal is needed. Async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

// A process starts paused if a file of this name is in its measurement directory.
constexpr char kPausedMarker[] = "paused";

// Times are CLOCK_MONOTONIC in nanoseconds. Does not own the counters.
class PauseSwitch {
 public:
  explicit PauseSwitch(std::atomic<uint64_t>* counters) noexcept : counters_(counters) {}

  [[nodiscard]] bool is_paused() const noexcept { return paused_since() != 0; }
  uint64_t paused_since() const noexcept {  // 0: not paused
    return at(Counter::PausedSinceNs).load(std::memory_order_acquire);
  }
  // Returns the sum of all pauses up to `now`. A pause that ends at this moment may be missing.
  [[nodiscard]] uint64_t paused_ns(uint64_t now) const noexcept {
    // Loaded first: a pause that ends meanwhile must not count twice.
    const uint64_t over = at(Counter::PausedNanoseconds).load(std::memory_order_acquire);
    const uint64_t since = paused_since();
    return since != 0 && now > since ? over + now - since : over;
  }
  // Returns the end of the last pause; 0: there was none.
  [[nodiscard]] uint64_t resumed_at() const noexcept {
    return at(Counter::ResumedAtNs).load(std::memory_order_acquire);
  }

  // Return true if this call changed the state.
  bool pause(uint64_t now) noexcept {
    uint64_t measuring = 0;
    return at(Counter::PausedSinceNs).compare_exchange_strong(measuring, now);
  }
  bool resume(uint64_t now) noexcept {
    // Stored first: a thread that finds measuring resumed must also find the time.
    if (!is_paused()) return false;
    at(Counter::ResumedAtNs).store(now, std::memory_order_release);
    const uint64_t since = at(Counter::PausedSinceNs).exchange(0);
    if (since == 0) return false;
    if (now > since) at(Counter::PausedNanoseconds).fetch_add(now - since, std::memory_order_relaxed);
    return true;
  }

 private:
  [[nodiscard]] std::atomic<uint64_t>& at(Counter counter) const noexcept {
    return counters_[static_cast<size_t>(counter)];
  }

  std::atomic<uint64_t>* counters_;
};

}  // namespace hpcrun

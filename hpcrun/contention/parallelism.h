#pragma once
// Determines whether threads of the process run at the same time or alternately, as with an interpreter's
// lock. Threads that alternate do not contend for a cache line, whatever they share: it moves once per turn.
//
// The decision uses the CPU time of all threads in windows of wall time, and the time for which threads were
// ready to run. So threads that get no processor, because of other programs or a control group's limit, do
// not count as alternating.
//
// One per process, shared by all threads without locks. Async-signal-safe. Times are in ns.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class Parallelism {
 public:
  static constexpr uint64_t kFirstWindowNs = 30'000'000;  // while nothing is known yet
  static constexpr uint64_t kWindowNs = 100'000'000;
  static constexpr uint64_t kMaxWindowNs = 4 * kWindowNs;  // a longer window without a sample shows nothing
  // Percent of wall time: threads that compute for more than this run together.
  static constexpr uint64_t kTogetherPercent = 115;
  // Percent of wall time: threads that compute or are ready to run for more than this run together. A woken
  // thread is ready until the previous one sleeps, so alternating threads reach 160 % if another program
  // computes as well.
  static constexpr uint64_t kReadyPercent = 180;

  enum class Threads : uint8_t { Unknown, Together, InTurns };

  // For how long the calling thread was ready to run since its last sample.
  struct Ready {
    bool is_known;
    uint64_t ns;
  };

  // Returns true if each sample must find out for how long its thread was ready. Not needed if CPU time alone
  // shows that threads run at the same time.
  bool asks_for_ready_time() const noexcept { return asks_.load(std::memory_order_relaxed); }

  // Must be called at each sample. `cpu_ns` returns the CPU time of all threads; called when a window ends.
  Threads sampled(uint64_t now_ns, Ready ready, uint64_t (*cpu_ns)() noexcept) noexcept;

 private:
  Threads judge(uint64_t elapsed_ns, uint64_t used_ns) noexcept;

  std::atomic<Threads> threads_{Threads::Unknown};
  std::atomic<bool> asks_{false};
  std::atomic<bool> is_unsure_{false};  // the ready time of some thread is not known
  std::atomic<uint64_t> since_ns_{0};   // start of this window
  std::atomic<uint64_t> cpu_ns_{0};     // CPU time used before it
  std::atomic<uint64_t> ready_ns_{0};   // ready time in it
};

}  // namespace hpcrun

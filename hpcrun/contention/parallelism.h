#pragma once
// Whether threads of the process run at the same time, or one after the other, as behind an interpreter's
// lock. Those that take turns contend for no line, whatever they share: it comes to each of them once a turn.
//
// Told by the processor time of all threads in windows of wall time, and by the time for which threads were
// ready to run. So threads to which others leave no processor, or a control group no time, are not taken for
// such that take turns.
//
// Shared by all threads of a process, without locks; async-signal-safe. Times are in ns.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class Parallelism {
 public:
  static constexpr uint64_t kFirstWindowNs = 30'000'000;  // where nothing is known: it may be told at once
  static constexpr uint64_t kWindowNs = 100'000'000;
  static constexpr uint64_t kMaxWindowNs = 4 * kWindowNs;  // without a sample: nobody knows what it was like
  // Of wall time: threads that compute for so much of it do so together,
  static constexpr uint64_t kTogetherPercent = 115;
  // and those that compute or are ready to for so much. Who is woken to take his turn is ready until who had
  // it sleeps: threads that take turns come to 160 % where another program computes beside them.
  static constexpr uint64_t kReadyPercent = 180;

  enum class Threads : uint8_t { Unknown, Together, InTurns };

  // Since the calling thread's last sample: for how long it was ready to run.
  struct Ready {
    bool is_known;
    uint64_t ns;
  };

  // Is it to be found out, at each sample, for how long threads are ready to run? Not where processor time
  // alone tells that threads run at the same time.
  bool asks_for_ready_time() const noexcept { return asks_.load(std::memory_order_relaxed); }

  // At each sample. `cpu_ns`: of all threads, asked for where a window ends.
  Threads sampled(uint64_t now_ns, Ready ready, uint64_t (*cpu_ns)() noexcept) noexcept;

 private:
  Threads judge(uint64_t elapsed_ns, uint64_t used_ns) noexcept;

  std::atomic<Threads> threads_{Threads::Unknown};
  std::atomic<bool> asks_{false};
  std::atomic<bool> is_unsure_{false};  // of some thread it is not known for how long it was ready
  std::atomic<uint64_t> since_ns_{0};   // this window
  std::atomic<uint64_t> cpu_ns_{0};     // used before it
  std::atomic<uint64_t> ready_ns_{0};   // in it
};

}  // namespace hpcrun

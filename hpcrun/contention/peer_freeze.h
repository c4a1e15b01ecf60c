#pragma once
// Stops the other threads at a contended cache line for some milliseconds, so that it is seen how fast one of
// them goes on alone: what contention costs it (loop_progress.h). Threads stop in their own samples'
// handlers, and go on by themselves when the time is over, whatever became of the one that asked.
//
// One for a process; one hold at a time. All calls are made in handlers, and are async-signal-safe and free
// of locks; times are CLOCK_MONOTONIC.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class PeerFreeze {
 public:
  static constexpr uint64_t kMaxNs = 20'000'000;        // of one hold, from the moment it was asked for
  static constexpr uint64_t kRestNs = 40'000'000;       // between two
  static constexpr uint64_t kLongRestNs = 500'000'000;  // after the first kFirstHolds
  static constexpr uint32_t kFirstHolds = 16;

  // Asks the `others` (1 or more) that use the line to stop, when it is time for that.
  void ask(uint64_t line, uint32_t thread, uint32_t others, uint64_t now_ns) noexcept;

  // By a thread at the line, which stays in here as long as it is held. True: it was.
  bool stay(uint64_t line, uint32_t thread, uint64_t now_ns) noexcept;

  bool is_for(uint32_t thread) const noexcept;

  // Have all others been held from `since` to `until`, for the thread that asked?
  bool lasted(uint64_t since, uint64_t until) const noexcept;

  // Has nobody been held from `since` on?
  bool was_free(uint64_t since) const noexcept;

  // Has the time gone by for which the others can be held?
  bool is_over(uint64_t now_ns) const noexcept {
    return now_ns >= deadline_ns_.load(std::memory_order_relaxed);
  }

  // By the one that asked: the others go on.
  void release(uint64_t now_ns) noexcept;

  // For good; nobody is held afterwards. Not in a handler.
  void stop() noexcept;

 private:
  enum class Phase : uint32_t { Free = 0, Changing = 1, Asked = 2, Stopped = 3 };
  static constexpr uint32_t kPhases = 4;
  static Phase phase_of(uint32_t turn) noexcept { return static_cast<Phase>(turn % kPhases); }

  std::atomic<uint32_t> turn_{0};  // its phase, and above how many holds there were; held threads wait on it
  std::atomic<uint64_t> line_{0};
  std::atomic<uint32_t> thread_{0};
  std::atomic<uint32_t> wanted_{0};
  std::atomic<uint32_t> held_{0};
  std::atomic<uint64_t> all_held_ns_{0};  // 0: not yet
  std::atomic<uint64_t> deadline_ns_{0};
  std::atomic<uint64_t> last_held_ns_{0};  // until when somebody was
  std::atomic<uint64_t> next_ns_{0};
};

}  // namespace hpcrun

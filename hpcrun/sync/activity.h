#pragma once
// Counts what the threads of the process are doing at this moment: idle threads are blamed on the code that
// the others execute meanwhile (Tallent and Mellor-Crummey, Effective performance measurement and analysis of
// multithreaded applications, PPoPP 2009, "parallel idleness"). Changed where threads wait, and read by
// samples of threads that work. All functions may be called from any thread at any time. Async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

enum class Activity : uint8_t {
  Works,  // as far as is known here: it may be waiting in the kernel
  WaitsForLock,
  Idles,        // waits for other threads without a lock
  IdlesInTeam,  // the same in a wait made by OpenMP, which may run tasks meanwhile
};

inline Activity activity_in(LockKind kind, bool in_team) noexcept {
  if (is_held(kind)) return Activity::WaitsForLock;
  return in_team ? Activity::IdlesInTeam : Activity::Idles;
}

// Constant-initialized; all threads work.
class Activities {
 public:
  void change(Activity from, Activity to) noexcept;
  void end_thread(Activity last) noexcept;
  // Stops counting threads that wait in their team as idle: they run tasks.
  void begin_tasks() noexcept { tasks_.store(true, std::memory_order_relaxed); }
  bool has_tasks() const noexcept { return tasks_.load(std::memory_order_relaxed); }

  struct Count {
    uint32_t idle;
    uint32_t working;  // at least one: the calling thread
  };
  // Returns the counts, given the number of threads that have begun.
  Count count(uint32_t begun) const noexcept;

  void reset_after_fork() noexcept;  // in a forked child, which has one thread

 private:
  // Sums of increments and decrements; between two of them, a thread may be counted in neither.
  std::atomic<int32_t> in_[4] = {};
  std::atomic<int32_t> ended_{0};
  std::atomic<bool> tasks_{false};
};

}  // namespace hpcrun

#pragma once
// What the threads of the process do at this moment: idle threads are to blame on what the others work on
// meanwhile (Tallent and Mellor-Crummey, Effective performance measurement and analysis of multithreaded
// applications, PPoPP 2009, "parallel idleness"). Changed where threads wait, read by samples of threads that
// work. Any thread may call anything at any time. Async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

enum class Activity : uint8_t {
  Works,  // as far as is known here: it may wait for the kernel
  WaitsForLock,
  Idles,        // waits for other threads without a lock
  IdlesInTeam,  // the same where OpenMP makes threads wait, which then may run tasks
};

inline Activity activity_in(LockKind kind, bool in_team) noexcept {
  if (is_held(kind)) return Activity::WaitsForLock;
  return in_team ? Activity::IdlesInTeam : Activity::Idles;
}

// Constant-initialised; all threads work.
class Activities {
 public:
  void change(Activity from, Activity to) noexcept;
  void end_thread(Activity last) noexcept;
  // From now on threads that wait in their team are not idle: they run tasks.
  void begin_tasks() noexcept { tasks_.store(true, std::memory_order_relaxed); }
  bool has_tasks() const noexcept { return tasks_.load(std::memory_order_relaxed); }

  struct Count {
    uint32_t idle;
    uint32_t working;  // at least one: whoever asks
  };
  // Of as many threads as have begun.
  Count count(uint32_t begun) const noexcept;

  void forget() noexcept;  // in a forked child, which is one thread

 private:
  // Sums of steps up and down; between two of them a thread may be in none.
  std::atomic<int32_t> in_[4] = {};
  std::atomic<int32_t> ended_{0};
  std::atomic<bool> tasks_{false};
};

}  // namespace hpcrun

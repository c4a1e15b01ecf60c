// The doors of `prof attach`: called by a thread that it makes in the program.

#include <errno.h>
#include <time.h>

#include <atomic>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/process/next.h"
#include "hpcrun/process/start.h"

namespace hpcrun {

namespace {

// A prof that was killed, or gave up, may have left a call behind that is not done.
class Turn {
 public:
  Turn() noexcept {
    for (int i = 0; i < kMostWaits && !taken_; ++i) {
      int holder = 0;
      taken_ = holder_.compare_exchange_strong(holder, pid_, std::memory_order_acquire);
      if (taken_) return;
      // The child of a fork has its parent's holder, but not the thread.
      if (holder != pid_) holder_.compare_exchange_strong(holder, 0, std::memory_order_relaxed);
      const timespec millisecond{0, 1'000'000};
      raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&millisecond), 0);
    }
  }
  ~Turn() {
    if (taken_) holder_.store(0, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool taken() const noexcept { return taken_; }

 private:
  static constexpr int kMostWaits = 20'000;
  static inline std::atomic<int> holder_{0};  // a process, or 0
  int pid_ = sys_getpid();
  bool taken_ = false;
};

}  // namespace

}  // namespace hpcrun

// Measures by the settings (hpcrun/sample/config.h) until hpcrun_detach() or the end of the process. 0, or an
// errno: EBUSY when the process is being measured already, or an earlier call does not end.
HPCRUN_EXPORT long hpcrun_attach(const char* settings) noexcept {
  const hpcrun::Turn turn;
  return turn.taken() ? hpcrun::start_late(settings) : EBUSY;
}

// Ends the measuring and closes the file. The library stays, since threads may be on their way through it,
// and so do its handlers of the signals that it used: one may still be on its way. 0 also where nothing was
// measured; EBUSY when an earlier call does not end.
HPCRUN_EXPORT long hpcrun_detach(const char*) noexcept {
  const hpcrun::Turn turn;
  return turn.taken() ? hpcrun::finish_late() : EBUSY;
}

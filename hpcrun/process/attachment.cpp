// The entry points of `prof attach`, called by a thread that it creates in the program.

#include <errno.h>
#include <time.h>

#include <atomic>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/process/start.h"

namespace hpcrun {

namespace {

// Serializes the two calls. A prof that was killed, or gave up, may have left a call unfinished.
class Turn {
 public:
  Turn() noexcept {
    for (int i = 0; i < kMaxWaits && !taken_; ++i) {
      int holder = 0;
      taken_ = holder_.compare_exchange_strong(holder, pid_, std::memory_order_acquire);
      if (taken_) return;
      // The child of a fork inherits the holder, but not the thread that holds it.
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
  static constexpr int kMaxWaits = 20'000;
  static inline std::atomic<int> holder_{0};  // a process, or 0
  int pid_ = sys_getpid();
  bool taken_ = false;
};

}  // namespace

}  // namespace hpcrun

// Begins measuring with these settings (hpcrun/sample/config.h) until hpcrun_detach() or the end of the
// process. Returns 0, or an errno: EBUSY if the process is being measured already, or an earlier call does
// not end.
HPCRUN_EXPORT long hpcrun_attach(const char* settings) noexcept {
  const hpcrun::Turn turn;
  return turn.taken() ? hpcrun::start_late(settings) : EBUSY;
}

// Ends measuring and closes the file. The library stays loaded, because threads may still be inside it. Its
// signal handlers stay, too, because a signal may still be pending. Returns 0, also if nothing was measured,
// or EBUSY if an earlier call does not end.
HPCRUN_EXPORT long hpcrun_detach(const char*) noexcept {
  const hpcrun::Turn turn;
  return turn.taken() ? hpcrun::finish_late() : EBUSY;
}

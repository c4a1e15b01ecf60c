#include "hpcrun/sample/signals_blocked.h"

#include <signal.h>
#include <sys/syscall.h>

#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/sources.h"

namespace hpcrun {

SignalsBlocked::SignalsBlocked() noexcept {
  const uint64_t signals = ~source_signals();
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&signals),
              reinterpret_cast<long>(&before_), sizeof signals);
}

HPCRUN_FORK_PATH SignalsBlocked::~SignalsBlocked() {
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before_), 0, sizeof before_);
}

}  // namespace hpcrun

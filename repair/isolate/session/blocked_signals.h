#pragma once
// Blocks all signals of the calling thread during the object's lifetime. Async-signal-safe.

#include <cstdint>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    const uint64_t all = ~uint64_t{0};
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
                reinterpret_cast<long>(&before_), sizeof all);
  }
  ~BlockedSignals() {
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before_), 0, sizeof before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  uint64_t before_ = 0;
};

}  // namespace hpcrun

#pragma once
// Futex calls in a session. All memory of the program is shared, so its private futexes become shared ones,
// which match between converted threads and threads at home. Futexes with priority inheritance identify the
// thread by its task: they stay private, and a thread comes home to wait at one. Async-signal-safe.

#include "repair/isolate/session/call_table.h"
#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

struct FutexWaiter {  // element of futex_waitv(2)
  uint64_t value;
  uint64_t address;
  uint32_t flags;
  uint32_t reserved;
};

bool is_futex_call(long number) noexcept;
MadeBy futex_made_by(const SystemCall& call) noexcept;

// Calls use(address) for each word at which the call waits or wakes waiters. The program's addresses may be
// invalid.
void for_each_futex(const SystemCall& call, void (*use)(uint64_t address)) noexcept;

// A futex call converted to shared futexes, with the arguments that it points to.
class SharedFutexCall {
 public:
  // Changes nothing if the session has ended.
  explicit SharedFutexCall(const SystemCall& call) noexcept;
  const SystemCall& call() const noexcept { return call_; }

 private:
  void share_list(int argument, unsigned count) noexcept;

  static constexpr unsigned kMaxWaiters = 128;  // FUTEX_WAITV_MAX
  SystemCall call_;
  FutexWaiter waiters_[kMaxWaiters];
};

}  // namespace hpcrun

#pragma once
// Futexes in a session. All memory of the program is shared, so one that the program calls private is made a
// shared one: threads at home and converted threads meet there. Those with priority inheritance know the
// thread by its task, so they stay private, and the thread comes home to wait for one. Async-signal-safe.

#include "repair/isolate/session/call_table.h"
#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

struct FutexWaiter {  // futex_waitv
  uint64_t value;
  uint64_t address;
  uint32_t flags;
  uint32_t reserved;
};

bool is_futex_call(long number) noexcept;
MadeBy futex_made_by(const SystemCall& call) noexcept;

// use(address) for each word at which the call waits, or wakes others. Addresses are the program's, and may be
// bad.
void for_each_futex(const SystemCall& call, void (*use)(uint64_t address)) noexcept;

// A call as it is to be made, and what it points to.
class SharedFutexCall {
 public:
  // Where no session is on any more, nothing is changed.
  explicit SharedFutexCall(const SystemCall& call) noexcept;
  const SystemCall& call() const noexcept { return call_; }

 private:
  void share_list(int argument, unsigned count) noexcept;

  static constexpr unsigned kMost = 128;  // FUTEX_WAITV_MAX
  SystemCall call_;
  FutexWaiter waiters_[kMost];
};

}  // namespace hpcrun

#pragma once
// The original of a thread while that runs as a twin. It stays on a stack of its own, with all signals
// blocked, and waits for orders of its twin, which come as request signals, and for the program's signals:
// one that would do nothing it drops, one that ends or stops the process does so, and for any other it asks
// its twin for the thread. All calls are async-signal-safe.

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// Until the twin has given the thread back.
void stay_parked(ThreadRecord& record, int twin) noexcept;

// By the twin. wake_original() tells it; call_by_original() has a system call made there, which must not
// wait, and waits for its result.
void wake_original(ThreadRecord& record, Order order) noexcept;
long call_by_original(const SystemCall& call) noexcept;

// What call_by_original() asks besides system calls: that the original looks at program_mask again. The
// result is 1 where a signal waits that the thread has to take now.
constexpr long kMaskChanged = -1;

// Looks whether the twin's process ended, and waits for it where it left; await_end_of_twin() until it ended.
void look_at_twin(ThreadRecord& record) noexcept;
void await_end_of_twin(ThreadRecord& record) noexcept;

// All twins of the process are killed and waited for: as it ends.
void kill_twins() noexcept;

}  // namespace hpcrun

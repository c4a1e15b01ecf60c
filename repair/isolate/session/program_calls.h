#pragma once
// System calls that act on the program's process: made there, by the thread at home or for its converted
// thread by its parked original. Async-signal-safe.

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// As the kernel's, with what the process must not see of its converted threads put right: they run in its
// place, so their CPU time is its own, where they may run follows it, and masks and actions have the signals
// of ours that the program set.
long call_in_program(const SystemCall& call) noexcept;

}  // namespace hpcrun

#pragma once
// System calls that act on the program's process. They are made there: by the thread at home, or for its
// converted thread by the parked original. Async-signal-safe.

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// Makes the call and hides the converted threads from its result. Their CPU time counts as the process's own.
// They follow its processor affinity. Masks and actions contain those of our signals that the program set.
long call_in_program(const SystemCall& call) noexcept;

}  // namespace hpcrun

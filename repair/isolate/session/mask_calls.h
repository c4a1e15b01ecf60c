#pragma once
// System calls about signal masks in a session. The program reads back what it set, but the kernel never
// blocks the session's own signals. Async-signal-safe.

#include <ucontext.h>

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// Makes rt_sigprocmask() in a handler that will return to the context. The mask lies in the context, or for a
// converted thread in its record. Sets `has_signal` if a converted thread has to come home for a signal that
// it unblocked.
long change_mask(const SystemCall& call, ThreadRecord& record, ucontext_t& context,
                 bool& has_signal) noexcept;

// Returns the signals that the program believes it blocks.
uint64_t mask_of_program(const ThreadRecord& record, const ucontext_t& context) noexcept;

// Returns the index of the argument that is the mask, for a call that waits with another mask, or -1.
int mask_argument(long number) noexcept;

}  // namespace hpcrun

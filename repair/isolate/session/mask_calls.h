#pragma once
// System calls about signal masks, in a session: the program sees what it set, the kernel never has the
// session's own signals. Async-signal-safe.

#include <ucontext.h>

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// rt_sigprocmask() by a handler that will return to the context: the mask lies there, or, of a converted
// thread, with its record. `has_signal` says whether a converted thread has to go home for a signal that it
// let in.
long change_mask(const SystemCall& call, ThreadRecord& record, ucontext_t& context,
                 bool& has_signal) noexcept;

// What the program believes it blocks.
uint64_t mask_of_program(const ThreadRecord& record, const ucontext_t& context) noexcept;

// A call that waits with another mask: the argument with the mask, or -1, and that mask without our signals.
int mask_argument(long number) noexcept;

}  // namespace hpcrun

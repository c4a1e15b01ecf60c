#pragma once
// Makes the calls by which a program in a session creates threads and processes.

#include <ucontext.h>

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

bool is_clone_call(long number) noexcept;

// True if the context is at an instruction that makes a clone call at home.
bool is_at_clone_site(const ucontext_t& context) noexcept;

// Makes the call at home. Returns its result, or kMadeAtSite: the context then leads to the instruction that
// makes the call. A fork ends the session first, because parent and child must not share memory.
constexpr long kMadeAtSite = -513;
long clone_at_home(const SystemCall& call, ucontext_t& context) noexcept;

}  // namespace hpcrun

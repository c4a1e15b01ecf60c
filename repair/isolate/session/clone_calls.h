#pragma once
// New threads and processes of a program in a session.

#include <ucontext.h>

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

bool is_clone_call(long number) noexcept;

// Whether the program goes on with a call that was found to be made at home.
bool is_at_clone_site(const ucontext_t& context) noexcept;

// At home. The result, or kMadeAtSite: the context then leads to the call, and the program goes on from
// there. A fork ends the session first: two processes that had memory in common would not be parent and
// child.
constexpr long kMadeAtSite = -513;
long clone_at_home(const SystemCall& call, ucontext_t& context) noexcept;

}  // namespace hpcrun

#pragma once
// Finds private pages on which a converted thread polls what another thread has written by plain loads:
// flags, sequence locks, indices of ring buffers. Nothing in the code distinguishes such a load from any
// other, and the thread would read its own copy until its next commit. So whenever it is asked to commit, the
// instructions that it was interrupted at are followed (hpcrun/model/access_plan.h), and a page from which
// they read what others have changed meanwhile is truly shared: it becomes common again.

#include <ucontext.h>

#include "repair/isolate/pages/private_pages.h"

namespace hpcrun {

// Called by a converted thread in a handler, before it commits. `interrupted` is the handler's context. Gives
// such pages back to common memory, in all threads (WhyShared::TrueSharing). Async-signal-safe; keeps errno.
void share_polled_pages(PrivatePages& pages, const ucontext_t& interrupted) noexcept;

}  // namespace hpcrun

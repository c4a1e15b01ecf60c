#pragma once
// Finds private pages on which a converted thread polls data that another thread writes, by plain loads:
// flags, sequence locks, indices of ring buffers. Nothing in the code distinguishes such a load from any
// other, and the thread would read its own copy until its next commit. Whenever it is asked to commit, the
// instructions at which it was interrupted are followed (hpcrun/model/access_plan.h). A page from which they
// read what other threads have changed meanwhile is truly shared, and becomes common again.

#include <ucontext.h>

#include "repair/isolate/pages/private_pages.h"

namespace hpcrun {

// Called by a converted thread in a handler, before it commits. `interrupted` is the handler's context. Makes
// such pages common in all threads (WhyShared::TrueSharing). Async-signal-safe; preserves errno.
void share_polled_pages(PrivatePages& pages, const ucontext_t& interrupted) noexcept;

}  // namespace hpcrun

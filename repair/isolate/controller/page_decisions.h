#pragma once
// Decides about pages that the runtime named: they are isolated, or declined with a reason that the report
// shows. For the controller's thread alone.

#include "repair/isolate/contract/interface.h"
#include "repair/isolate/controller/known_pages.h"

namespace hpcrun {

// Reports the page as shared for this reason, and has converted threads give it up.
void decline(KnownPage& known, WhyShared why) noexcept;

// Isolates the page unless something is against it.
void admit(KnownPage& known) noexcept;

// Reports pages that are isolated now, each once.
void report_isolated() noexcept;

// Declines all pages that are requested or isolated. Returns false: nothing is isolated.
bool decline_all(WhyShared why) noexcept;

// As the process forks: a page that is named again later may be isolated again if the process keeps its
// threads. Returns false, as decline_all() does.
bool decline_for_fork() noexcept;

// Declines pages that converted threads needed as common memory (NeededCommon), for the rest of the run.
void decline_needed() noexcept;
// The same for all isolated pages, if there was no room to list those that were needed.
void decline_all_if_needed() noexcept;

// Declines isolated pages whose memory belongs to something else since libraries were loaded or unloaded.
void decline_changed() noexcept;

}  // namespace hpcrun

#pragma once
// Isolates pages in the measured process: passes what a detector of false sharing finds to
// libprof-isolate.so (../contract/interface.h), and writes down what became of each page. Pages may also be
// isolated to count what threads write to them (Config::contention_by_pages,
// hpcrun/contention/counted_writes.h). All calls are async-signal-safe.

#include "hpcrun/hooks.h"
#include "repair/isolate/contract/interface.h"

namespace hpcrun {

extern const Hooks kIsolationHooks;

// True if pages are isolated on request, and nothing is known that forbids it.
bool isolates_pages() noexcept;

// Requests that a falsely shared page be isolated, or that it not be, with the reason. Nothing happens if no
// pages are isolated.
void isolate_page(const PageRequest& page) noexcept;
void leave_page(const PageRequest& page, WhyShared why) noexcept;

// True if memory that the kernel calls shared belongs to this process alone.
bool is_common_memory(const void* at) noexcept;

}  // namespace hpcrun

#pragma once
// Mapped files that are truncated, or lost by their file system, while they are mapped: the next access past
// their end raises SIGBUS. Called from the SIGBUS handlers of the runtime and of prof. Async-signal-safe.

#include <csignal>

#include "hpcrun/guest/own_mappings.h"

namespace hpcrun {

// Puts a private page of zeros in the place of the one that the access faulted at, if `is_own` returns true
// for the mapping of a file that the page lies in. Returns true if the access can be repeated, and false for
// a signal of another kind or origin. `is_own` is called by one thread at a time; it may be called again for
// the same mapping.
bool replace_cut_page(const siginfo_t& info, bool (*is_own)(const OwnMapping& mapping)) noexcept;

}  // namespace hpcrun

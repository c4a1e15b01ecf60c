#pragma once
// Handles mapped files that are truncated, or lost by their file system, while they are mapped: the next
// access past their end raises SIGBUS. Called from the SIGBUS handlers of the runtime and of prof.
// Async-signal-safe.

#include <csignal>

#include "hpcrun/guest/own_mappings.h"

namespace hpcrun {

// Replaces the page at which the access faulted by a private page of zeros, if `is_own` returns true for the
// file mapping that contains it. Returns true if the access can be repeated, and false for a signal of
// another kind or origin. `is_own` is called by one thread at a time, possibly several times for the same
// mapping.
[[nodiscard]] bool replace_cut_page(const siginfo_t& info,
                                    bool (*is_own)(const OwnMapping& mapping)) noexcept;

}  // namespace hpcrun

#pragma once
// Intercepts calls if the runtime is loaded late. A preloaded library precedes the C library in the order of
// symbol lookup. A library that is loaded later writes its functions into the slots through which load
// modules call (their global offset tables), and restores the slots when it leaves. Not async-signal-safe.

namespace hpcrun {

// True if this library does not precede the C library.
bool is_loaded_late() noexcept;

// Directs every slot for a function that the runtime exports to the runtime, in all loaded modules. Must be
// called again after more modules were loaded. A function that a module defines itself, or that the
// executable defines for all, stays.
void redirect_calls() noexcept;

// Called in a forked child, in which slots stay as they are: the loader's locks may be held forever.
void redirection_after_fork() noexcept;

// Restores the former contents of each slot.
void restore_calls() noexcept;

}  // namespace hpcrun

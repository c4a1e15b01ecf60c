#pragma once
// The program's signal actions in a session. The kernel has them without our signals in their masks, and does
// not have the program's actions for our signals. Must be called in the program's process, not in a converted
// thread. All calls but the first two are async-signal-safe.

#include "repair/isolate/session/signal_masks.h"

namespace hpcrun {

// Called as the session begins and ends.
void hide_own_signals() noexcept;
void show_own_signals() noexcept;

// Makes the program's rt_sigaction(). Returns a negated errno or 0. The program's pointers may be invalid.
long change_action(int signal, const void* action, void* before, size_t mask_bytes) noexcept;

// Writes to an address of the program. Returns false if the address is invalid.
bool write_to_program(void* to, const void* from, size_t bytes) noexcept;

// Returns the program's action for one of our signals, to run for a SIGSYS that is not ours.
KernelAction action_of_own_signal(int signal) noexcept;

// True if the signal would have no effect because the program or the default action ignores it.
bool is_ignored(int signal) noexcept;
bool has_default_action(int signal) noexcept;

}  // namespace hpcrun

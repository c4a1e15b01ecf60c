#pragma once
// The program's signal actions in a session: the kernel has them without our signals in their masks, and the
// actions of our signals not at all. To be called in the program's process, not in a converted thread. All
// calls are async-signal-safe but the first two.

#include "repair/isolate/session/signal_masks.h"

namespace hpcrun {

// As the session begins and ends.
void hide_own_signals() noexcept;
void show_own_signals() noexcept;

// The program's rt_sigaction(): a negated errno or 0. Its pointers are the program's and may be bad.
long change_action(int signal, const void* action, void* before, size_t mask_bytes) noexcept;

// To an address of the program's: false where that is bad.
bool write_to_program(void* to, const void* from, size_t bytes) noexcept;

// A SIGSYS that is not ours.
KernelAction action_of_own_signal(int signal) noexcept;

// Whether the signal would change nothing: it is ignored, by the program or by default.
bool is_ignored(int signal) noexcept;
bool has_default_action(int signal) noexcept;

}  // namespace hpcrun

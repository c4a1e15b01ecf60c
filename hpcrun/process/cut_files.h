#pragma once
// Files of the runtime that are truncated while they are mapped. The next access past their end raises
// SIGBUS, which would end a program that has nothing to do with it. Async-signal-safe.

#include <csignal>

namespace hpcrun {

// Returns true if the signal was raised by an access to a file of the runtime past its end. The page reads as
// zeros then and can be written to, so that the access succeeds when it is repeated; nothing more is recorded
// if it was the measurement file. Returns false for the program's own signals.
bool survive_cut_file(const siginfo_t& info) noexcept;

}  // namespace hpcrun

#pragma once
// Handles mapped files of the runtime that are truncated. The next access past their end raises SIGBUS, which
// would kill a program that has no part in it. Async-signal-safe.

#include <csignal>

namespace hpcrun {

// Returns true if an access to a file of the runtime past its end raised the signal. The page then reads as
// zeros and is writable, so the access succeeds when it is repeated. If the file was the measurement file,
// nothing more is recorded. Returns false for the program's own signals.
bool survive_cut_file(const siginfo_t& info) noexcept;

}  // namespace hpcrun

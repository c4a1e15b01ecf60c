#pragma once

namespace hpcrun {

// The program is about to make the system call: if it forbids with it what the runtime does, the runtime
// stops doing so. Cheap for all other calls. Not async-signal-safe if it does forbid something.
void before_restriction(long number, long a, long b, long c) noexcept;

// True for system calls by which a process may lose the right or the way to its measurement directory.
bool gives_up_rights(long number) noexcept;

}  // namespace hpcrun

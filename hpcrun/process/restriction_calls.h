#pragma once

namespace hpcrun {

// Must be called before the program makes the system call. If the call forbids something that the runtime
// does, the runtime stops doing it. Cheap for all other calls. Not async-signal-safe if it does forbid
// something.
void before_restriction(long number, long a, long b, long c) noexcept;

// True for system calls by which a process may lose the permission for its measurement directory, or the path
// to it.
bool gives_up_rights(long number) noexcept;

}  // namespace hpcrun

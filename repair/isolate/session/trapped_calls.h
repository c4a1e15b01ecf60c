#pragma once
// The handler of SIGSYS, to which the kernel dispatches every system call of a thread in a session. It makes
// the call where call_table.h says, and returns the result to the program as the kernel would. It runs on the
// caller's stack with the program's signals unblocked, so only these interrupt a call that waits. If one of
// our signals does, the handler makes the call again with the remaining time.

namespace hpcrun {

void install_trap_handler() noexcept;

}  // namespace hpcrun

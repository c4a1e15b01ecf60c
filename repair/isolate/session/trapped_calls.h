#pragma once
// The handler of SIGSYS, to which the kernel dispatches every system call of a thread in a session: makes it
// where call_table.h says, and returns its result to the program as the kernel would. It runs on the stack of
// the caller with the signals of the program unblocked, so a call that waits is interrupted by these alone;
// those of ours it makes again, with what is left of its time.

namespace hpcrun {

void install_trap_handler() noexcept;

}  // namespace hpcrun

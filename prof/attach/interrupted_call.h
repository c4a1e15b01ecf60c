#pragma once
// The system call in which a thread of another process was stopped by ptrace(2), and how the thread continues
// with it.

#include <sys/user.h>

#include <cstdint>
#include <optional>

namespace prof {

// True if the thread is in no system call, or in one that waits for something outside the process, according
// to the kernel. Such a thread holds no lock of malloc or the loader, and the call can be stopped.
bool may_be_interrupted(int tid);

// The same for the call that a stopped thread is in, by its registers.
bool is_wait(const user_regs_struct& registers);

// True if the call that the stopped thread was in, with `mask` blocked, has to be made again. While the
// thread is stopped the kernel restarts most calls by itself, unless a signal is to be handled first. Then
// only a call that a sample would interrupt is made again, or one that the stop itself has ended. If the
// thread continues by a signal return (`is_stopped` false), the kernel restarts no call.
bool is_call_to_be_made(int tid, const user_regs_struct& interrupted, uint64_t mask, bool is_stopped);

// Returns the registers with which the thread makes the call again; a call with a timeout waits for the whole
// timeout. Empty if it is not known which call it is.
std::optional<user_regs_struct> with_call_made_anew(int tid, const user_regs_struct& interrupted);

}  // namespace prof

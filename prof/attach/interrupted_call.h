#pragma once
// The system call in which a thread of another process was stopped by ptrace(2), and how the thread goes on
// with it.

#include <sys/user.h>

#include <cstdint>
#include <optional>

namespace prof {

// True if the thread is in no system call, or in one that waits for something outside of the process, as far
// as the kernel says. Such a thread holds no lock of malloc's or of the loader's, and the call can be
// stopped.
bool may_be_interrupted(int tid);

// The same of the call that a stopped thread is in, by its registers.
bool is_wait(const user_regs_struct& registers);

// True if the call that the stopped thread was in, with `mask` blocked, has to be made anew. In a stop the
// kernel restarts most calls by itself, unless a signal is to be handled first: only one that a sample would
// end is made anew then, and one that the stop itself has ended. Without (`is_stopped` false: the thread goes
// on by a signal return) the kernel restarts none.
bool is_call_to_be_made(int tid, const user_regs_struct& interrupted, uint64_t mask, bool is_stopped);

// The registers with which the thread makes the call once more: one with a timeout waits for the whole of it.
// Nothing if it is not known which call it is.
std::optional<user_regs_struct> with_call_made_anew(int tid, const user_regs_struct& interrupted);

}  // namespace prof

#pragma once
// The frame of a signal handler, made for a thread of another process: the thread that comes to
// rt_sigreturn(2) with it goes on in the context that the frame describes, registers, vector registers and
// signal mask. A thread that runs code of prof's therefore comes back even if prof is killed meanwhile.

#include <sys/user.h>

#include <cstdint>
#include <vector>

namespace prof {

struct ReturnContext {
  user_regs_struct registers{};        // rax and rip such that an interrupted system call is made anew
  std::vector<char> vector_registers;  // as PTRACE_GETREGSET gives NT_X86_XSTATE
  uint64_t mask = 0;                   // blocked signals
};

struct ReturnFrame {
  std::vector<char> bytes;
  uint64_t at = 0;  // where they are to be written, below the red zone of the context's stack
};

// Returns the frame. Its first word is the address of code that calls rt_sigreturn (the C library's
// restorer): a `ret` with the stack pointer at the frame leads there.
ReturnFrame make_return_frame(const ReturnContext& context, uint64_t restorer);

}  // namespace prof

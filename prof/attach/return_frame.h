#pragma once
// The frame of a signal handler, made for a thread of another process. A thread that calls rt_sigreturn(2)
// with it continues in the context that the frame describes: registers, vector registers and signal mask.
// Therefore a thread that runs code of prof's returns to its own code even if prof is killed meanwhile.

#include <sys/user.h>

#include <cstdint>
#include <vector>

namespace prof {

struct ReturnContext {
  user_regs_struct registers{};        // rax and rip such that an interrupted system call is made again
  std::vector<char> vector_registers;  // as PTRACE_GETREGSET gives NT_X86_XSTATE
  uint64_t mask = 0;                   // blocked signals
};

struct ReturnFrame {
  std::vector<char> bytes;
  uint64_t at = 0;  // address for the frame, below the red zone of the context's stack
};

// Returns the frame. Its first word is the address of code that calls rt_sigreturn (the C library's
// restorer). A `ret` with the stack pointer at the frame jumps there.
ReturnFrame make_return_frame(const ReturnContext& context, uint64_t restorer);

}  // namespace prof

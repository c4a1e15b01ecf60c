#pragma once
// Starts walks at a point in our own code instead of at an interrupted instruction. Async-signal-safe.

#include <ucontext.h>

namespace hpcrun {

// Fills in the registers of a context that a walk reads, as they are at the call. rip lies within this
// function's inlined code.
[[gnu::always_inline]] inline void capture(ucontext_t& context) noexcept {
  greg_t* const to = context.uc_mcontext.gregs;
  asm volatile(
      "leaq 0(%%rip), %%rax\n\t"
      "movq %%rax, %c[rip](%[to])\n\t"
      "movq %%rsp, %c[rsp](%[to])\n\t"
      "movq %%rbp, %c[rbp](%[to])\n\t"
      "movq %%rbx, %c[rbx](%[to])\n\t"
      "movq %%r12, %c[r12](%[to])\n\t"
      "movq %%r13, %c[r13](%[to])\n\t"
      "movq %%r14, %c[r14](%[to])\n\t"
      "movq %%r15, %c[r15](%[to])"
      :
      : [to] "r"(to), [rip] "i"(REG_RIP * 8), [rsp] "i"(REG_RSP * 8), [rbp] "i"(REG_RBP * 8),
        [rbx] "i"(REG_RBX * 8), [r12] "i"(REG_R12 * 8), [r13] "i"(REG_R13 * 8), [r14] "i"(REG_R14 * 8),
        [r15] "i"(REG_R15 * 8)
      : "rax", "memory");
}

}  // namespace hpcrun

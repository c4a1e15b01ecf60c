// Called by trampolines (trampoline.h) in threads that have private pages. rcx is the site, or 0 after the
// instruction. The return address, the program's rcx and its red zone lie on the stack. Preserves all
// registers and flags, and the state of the vector unit, which commits change.

  .text
  .globl hpcrun_atomic_slow_path
  .hidden hpcrun_atomic_slow_path
  .type hpcrun_atomic_slow_path, @function
  .balign 16

  .set state_bytes, 144         // MachineState
  .set vector_bytes, 2688       // XSAVE's standard form up to the last of the vector registers
  .set above_state, 8 + 8       // flags, and the way back
  .set red_zone, 128

hpcrun_atomic_slow_path:
  .cfi_startproc
  pushfq
  .cfi_adjust_cfa_offset 8
  cld
  leaq -state_bytes(%rsp), %rsp
  .cfi_adjust_cfa_offset state_bytes
  movq %rax, (%rsp)
  movq %rdx, 16(%rsp)
  movq %rbx, 24(%rsp)
  .cfi_rel_offset %rbx, 24
  movq %rbp, 40(%rsp)
  movq %rsi, 48(%rsp)
  movq %rdi, 56(%rsp)
  movq %r8, 64(%rsp)
  movq %r9, 72(%rsp)
  movq %r10, 80(%rsp)
  movq %r11, 88(%rsp)
  movq %r12, 96(%rsp)
  movq %r13, 104(%rsp)
  movq %r14, 112(%rsp)
  movq %r15, 120(%rsp)
  movq %fs:0, %rax
  movq %rax, 128(%rsp)
  movq state_bytes + above_state(%rsp), %rax
  movq %rax, 8(%rsp)  // rcx
  leaq state_bytes + above_state + 8 + red_zone(%rsp), %rax
  movq %rax, 32(%rsp)  // rsp
  movq %rcx, %rdi
  movq %rsp, %rsi
  movq %rsp, %rbx
  .cfi_def_cfa %rbx, state_bytes + above_state

  leaq -vector_bytes(%rsp), %rsp
  andq $-64, %rsp
  xorl %edx, %edx
  .irp offset, 0, 8, 16, 24, 32, 40, 48, 56
  movq %rdx, 512 + \offset(%rsp)
  .endr
  movl hpcrun_vector_state(%rip), %eax
  cmpb $0, hpcrun_has_compact_save(%rip)
  je 1f
  xsavec64 (%rsp)
  jmp 2f
1:
  xsave64 (%rsp)
2:
  call hpcrun_at_atomic_site
  movl hpcrun_vector_state(%rip), %eax
  xorl %edx, %edx
  xrstor64 (%rsp)

  movq %rbx, %rsp
  movq (%rsp), %rax
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rbx
  .cfi_def_cfa %rsp, state_bytes + above_state
  .cfi_restore %rbx
  movq 48(%rsp), %rsi
  movq 56(%rsp), %rdi
  movq 64(%rsp), %r8
  movq 72(%rsp), %r9
  movq 80(%rsp), %r10
  movq 88(%rsp), %r11
  leaq state_bytes(%rsp), %rsp
  .cfi_adjust_cfa_offset -state_bytes
  popfq
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size hpcrun_atomic_slow_path, . - hpcrun_atomic_slow_path

  .section .note.GNU-stack, "", @progbits

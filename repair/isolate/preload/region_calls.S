// The functions of repair/isolate/pass/regions.h: as LLVM's preserve_most calls have it, all general registers
// but r11 are the caller's, and rax where it is no result.

  .macro region_call name, target, result
  .text
  .globl \name
  .type \name, @function
  .p2align 4
\name:
  .cfi_startproc
  endbr64
  .irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10
  push %\register
  .cfi_adjust_cfa_offset 8
  .endr
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call \target
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  .irp register, r10, r9, r8, rdi, rsi, rdx, rcx
  pop %\register
  .cfi_adjust_cfa_offset -8
  .endr
  .if \result
  add $8, %rsp
  .else
  pop %rax
  .endif
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size \name, . - \name
  .endm

  region_call prof_atomic_begin, hpcrun_atomic_begin, 1
  region_call prof_atomic_end, hpcrun_atomic_end, 0
  region_call prof_commit, hpcrun_commit, 0
  region_call prof_share, hpcrun_share, 0
  region_call prof_region_begin, hpcrun_region_begin, 0
  region_call prof_region_end, hpcrun_region_end, 0

  .section .note.GNU-stack, "", @progbits

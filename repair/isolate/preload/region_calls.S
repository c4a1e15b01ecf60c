// The functions of repair/isolate/pass/regions.h. As in LLVM's preserve_most convention they preserve all
// general registers except r11, and rax if it holds no result. In threads without private pages they end
// here.
//
// Regions are counted (open_regions) from before the check of what the thread has until after the last thing
// that is done for them. A handler in between must find the count.

  .macro count_region instruction
  movq _ZN6hpcrun12open_regionsE@gottpoff(%rip), %r11
  \instruction %fs:(%r11)
  .endm

  // opens: 1, a region begins; -1, it ends; 0, neither
  .macro region_call name, target, result, opens
  .text
  .globl \name
  .type \name, @function
  .p2align 4
\name:
  .cfi_startproc
  endbr64
  .if \opens > 0
  count_region incl
  .endif
  movq _ZN6hpcrun9own_pagesE@gottpoff(%rip), %r11
  cmpq $0, %fs:(%r11)
  jne 1f
  .if \result
  movq %rdi, %rax
  .endif
  .if \opens < 0
  count_region decl
  .endif
  ret
1:
  .irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10
  pushq %\register
  .cfi_adjust_cfa_offset 8
  .endr
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call \target
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  .irp register, r10, r9, r8, rdi, rsi, rdx, rcx
  popq %\register
  .cfi_adjust_cfa_offset -8
  .endr
  .if \result
  addq $8, %rsp
  .else
  popq %rax
  .endif
  .cfi_adjust_cfa_offset -8
  .if \opens < 0
  count_region decl
  .endif
  ret
  .cfi_endproc
  .size \name, . - \name
  .endm

  region_call prof_atomic_begin, hpcrun_atomic_begin, 1, 1
  region_call prof_atomic_end, hpcrun_atomic_end, 0, -1
  region_call prof_commit, hpcrun_commit, 0, 0
  region_call prof_share, hpcrun_share, 0, 0
  region_call prof_region_begin, hpcrun_region_begin, 0, 1
  region_call prof_region_end, hpcrun_region_end, 0, -1

  .section .note.GNU-stack, "", @progbits

// void run_code(const void* code, State* state): calls the code with all registers, flags, vector registers,
// the red zone and some of the stack above set from the state, and stores their values afterwards.
//
// State: 0 general registers in the order of their encoding (rsp is not changed), 128 flags, 136 the red zone
// of the code, 264 the part of the stack from 64 bytes above its stack pointer, 448 vector registers of 64
// bytes, 2496 masks.

  .macro EACH_VECTOR instruction, register, bytes, last, is_load
  .set number, 0
  .rept \last + 1
  VECTOR_OF_NUMBER \instruction, \register, \bytes, %number, \is_load
  .set number, number + 1
  .endr
  .endm
  .altmacro
  .macro VECTOR_OF_NUMBER instruction, register, bytes, number, is_load
  .if \is_load
  \instruction 448 + 64 * \number(%rsi), %\register\number
  .else
  \instruction %\register\number, 448 + 64 * \number(%rsi)
  .endif
  .endm

  .text
  .globl run_code
  .type run_code, @function
run_code:
  pushq %rbx
  pushq %rbp
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $264, %rsp
  movq %rdi, (%rsp)   // the code
  movq %rsi, 8(%rsp)  // the state
  movq %rsi, %rbx
  leaq 264(%rbx), %rsi
  leaq 56(%rsp), %rdi
  movl $128, %ecx
  rep movsb
  leaq 136(%rbx), %rsi
  leaq -136(%rsp), %rdi
  movl $128, %ecx
  rep movsb
  movq %rbx, %rsi
  cmpl $1, vector_level(%rip)
  ja 1f
  jb 2f
  EACH_VECTOR vmovdqu, ymm, 32, 15, 1
  jmp 2f
1:
  EACH_VECTOR vmovdqu64, zmm, 64, 31, 1
  .irp mask, 1, 2, 3, 4, 5, 6, 7
  kmovw 2496 + 8 * \mask(%rsi), %k\mask
  .endr
2:
  pushq 128(%rsi)
  popfq
  movq (%rsi), %rax
  movq 8(%rsi), %rcx
  movq 16(%rsi), %rdx
  movq 24(%rsi), %rbx
  movq 40(%rsi), %rbp
  movq 56(%rsi), %rdi
  movq 64(%rsi), %r8
  movq 72(%rsi), %r9
  movq 80(%rsi), %r10
  movq 88(%rsi), %r11
  movq 96(%rsi), %r12
  movq 104(%rsi), %r13
  movq 112(%rsi), %r14
  movq 120(%rsi), %r15
  movq 48(%rsi), %rsi
  call *(%rsp)
  movq %rsi, seen_rsi(%rip)
  movq 8(%rsp), %rsi
  movq %rax, (%rsi)
  movq %rcx, 8(%rsi)
  movq %rdx, 16(%rsi)
  movq %rbx, 24(%rsi)
  movq %rbp, 40(%rsi)
  movq %rdi, 56(%rsi)
  movq %r8, 64(%rsi)
  movq %r9, 72(%rsi)
  movq %r10, 80(%rsi)
  movq %r11, 88(%rsi)
  movq %r12, 96(%rsi)
  movq %r13, 104(%rsi)
  movq %r14, 112(%rsi)
  movq %r15, 120(%rsi)
  movq seen_rsi(%rip), %rax
  movq %rax, 48(%rsi)
  pushfq
  popq 128(%rsi)
  cmpl $1, vector_level(%rip)
  ja 1f
  jb 2f
  EACH_VECTOR vmovdqu, ymm, 32, 15, 0
  vzeroupper
  jmp 2f
1:
  EACH_VECTOR vmovdqu64, zmm, 64, 31, 0
  .irp mask, 1, 2, 3, 4, 5, 6, 7
  kmovw %k\mask, 2496 + 8 * \mask(%rsi)
  .endr
  vzeroupper
2:
  cld
  movq %rsi, %rbx
  leaq -136(%rsp), %rsi
  leaq 136(%rbx), %rdi
  movl $128, %ecx
  rep movsb
  leaq 56(%rsp), %rsi
  leaq 264(%rbx), %rdi
  movl $128, %ecx
  rep movsb
  addq $264, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbp
  popq %rbx
  ret
  .size run_code, . - run_code

  .bss
  .balign 8
seen_rsi:
  .skip 8

  .section .note.GNU-stack, "", @progbits

// Switches a thread between its original and its converted thread, which share its stack. These are the two
// halves of a fork in which only one side continues on the stack. x86-64, Linux.
//
// ThreadRecord: 0 the thread's stack, 8 the parking stack, 16 the leaving stack.

  .text

  .macro SAVE_CONTEXT
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  pushq %r12
  .cfi_adjust_cfa_offset 8
  pushq %r13
  .cfi_adjust_cfa_offset 8
  pushq %r14
  .cfi_adjust_cfa_offset 8
  pushq %r15
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  .endm

  .macro RESTORE_CONTEXT
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  .endm

// long hpcrun_part(ThreadRecord*, long clone_flags): returns 0 in the converted thread, or a negated errno if
// it was not created. The original does not return from here: it parks, and returns from its converted
// thread's hpcrun_leave().
  .globl hpcrun_part
  .hidden hpcrun_part
  .type hpcrun_part, @function
hpcrun_part:
  .cfi_startproc
  SAVE_CONTEXT
  movq %rdi, %rbx
  movq %rsi, %rdi
  xorl %esi, %esi
  xorl %edx, %edx
  xorl %r10d, %r10d
  xorl %r8d, %r8d
  movl $56, %eax  // clone
  syscall
  testq %rax, %rax
  jle 1f
  movq 8(%rbx), %rsp  // the thread's stack belongs to the process from now on
  movq %rbx, %rdi
  movq %rax, %rsi
  call hpcrun_parked
  movq (%rbx), %rsp
1:
  RESTORE_CONTEXT
  ret
  .cfi_endproc
  .size hpcrun_part, . - hpcrun_part

// void hpcrun_leave(ThreadRecord*): called by the converted thread, returns in the original.
  .globl hpcrun_leave
  .hidden hpcrun_leave
  .type hpcrun_leave, @function
hpcrun_leave:
  .cfi_startproc
  SAVE_CONTEXT
  movq %rsp, (%rdi)
  movq 16(%rdi), %rsp
  call hpcrun_left
  .cfi_endproc
  .size hpcrun_leave, . - hpcrun_leave

// long hpcrun_passed_call(long number, const long* arguments, const std::atomic<uint32_t>* stop): makes the
// system call. Returns its result, or kNotExecuted if *stop is not 0, or if a handler of ours interrupted it
// before the call, between _begin and _end, and sent the thread to hpcrun_passed_call_stopped. Returns
// kEndedByHandler if a handler of the program ran there and sent it to hpcrun_passed_call_ended.
  .globl hpcrun_passed_call, hpcrun_passed_call_begin, hpcrun_passed_call_end
  .globl hpcrun_passed_call_stopped, hpcrun_passed_call_ended
  .hidden hpcrun_passed_call, hpcrun_passed_call_begin, hpcrun_passed_call_end
  .hidden hpcrun_passed_call_stopped, hpcrun_passed_call_ended
  .type hpcrun_passed_call, @function
hpcrun_passed_call:
  .cfi_startproc
hpcrun_passed_call_begin:
  cmpl $0, (%rdx)
  jne hpcrun_passed_call_stopped
  movq %rdi, %rax
  movq %rsi, %r11
  movq (%r11), %rdi
  movq 8(%r11), %rsi
  movq 16(%r11), %rdx
  movq 24(%r11), %r10
  movq 32(%r11), %r8
  movq 40(%r11), %r9
  syscall
hpcrun_passed_call_end:
  ret
hpcrun_passed_call_stopped:
  movq $-512, %rax  // kNotExecuted
  ret
hpcrun_passed_call_ended:
  movq $-513, %rax  // kEndedByHandler
  ret
  .cfi_endproc
  .size hpcrun_passed_call, . - hpcrun_passed_call

// void hpcrun_stay_stopped(std::atomic<uint32_t>* is_stopped, const std::atomic<uint32_t>* word, uint32_t value):
// stores 1 to *is_stopped, and returns when *word differs from `value`. Nothing is written to the stack after
// that store, so a thread that waits for it may copy the stack and map the copy there. All signals are
// blocked.
  .globl hpcrun_stay_stopped
  .hidden hpcrun_stay_stopped
  .type hpcrun_stay_stopped, @function
hpcrun_stay_stopped:
  .cfi_startproc
  movl %edx, %r8d
  movl $1, (%rdi)
  movq %rsi, %rdi
1:
  cmpl %r8d, (%rdi)
  jne 2f
  xorl %esi, %esi  // FUTEX_WAIT
  movl %r8d, %edx
  leaq hpcrun_millisecond(%rip), %r10
  movl $202, %eax  // futex
  syscall
  jmp 1b
2:
  ret
  .cfi_endproc
  .size hpcrun_stay_stopped, . - hpcrun_stay_stopped

  .section .rodata
  .balign 16
hpcrun_millisecond:
  .quad 0, 1000000
  .text

// The return from our handlers. Unwinders recognise it by exactly these bytes, debuggers by the C library's
// name for it.
  .globl hpcrun_signal_return
  .hidden hpcrun_signal_return
  .type hpcrun_signal_return, @function
  .type __restore_rt, @function
  nop
hpcrun_signal_return:
__restore_rt:
  movq $15, %rax  // rt_sigreturn
  syscall
  .size hpcrun_signal_return, . - hpcrun_signal_return
  .size __restore_rt, . - __restore_rt

// void hpcrun_return_to(const void* frame): makes rt_sigreturn with a signal frame of the program, on its
// stack.
  .globl hpcrun_return_to
  .hidden hpcrun_return_to
  .type hpcrun_return_to, @function
hpcrun_return_to:
  movq %rdi, %rsp
  movl $15, %eax
  syscall
  .size hpcrun_return_to, . - hpcrun_return_to

// System calls whose child continues at the call with shared memory (clone, clone3, vfork) cannot be made in
// a handler. Each place in the program that makes them gets one of these, to which the handler returns
// instead: the call, and a jump to after the program's own instruction. rcx and r11 are clobbered by any
// system call. hpcrun_clone_places has the return addresses.
  .globl hpcrun_clone_sites, hpcrun_clone_places
  .hidden hpcrun_clone_sites, hpcrun_clone_places
  .balign 32
hpcrun_clone_sites:
  .set place, 0
  .rept 64
  .balign 32
  syscall
  testq %rax, %rax
  jz 1f
  jmp *hpcrun_clone_places + 8 * place(%rip)
1:
  movl $place, %ecx
  jmp child_of_clone
  .set place, place + 1
  .endr

// Preserves all registers of the program. Its red zone lies below a vfork's stack.
child_of_clone:
  leaq -128(%rsp), %rsp
  pushq %rbp
  movq %rsp, %rbp
  pushq %rcx
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %r8
  pushq %r9
  pushq %r10
  andq $-16, %rsp
  call hpcrun_new_thread
  leaq -56(%rbp), %rsp
  popq %r10
  popq %r9
  popq %r8
  popq %rdx
  popq %rsi
  popq %rdi
  popq %rcx
  popq %rbp
  leaq 128(%rsp), %rsp
  xorl %eax, %eax
  leaq hpcrun_clone_places(%rip), %r11
  jmp *(%r11, %rcx, 8)

  .bss
  .balign 64
hpcrun_clone_places:
  .skip 8 * 64
  .size hpcrun_clone_places, 8 * 64

  .section .note.GNU-stack, "", @progbits

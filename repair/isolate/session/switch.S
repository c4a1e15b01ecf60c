// A thread changes over between its original and its converted thread, which have its stack in common: the two halves
// of what a fork is, with the stack left to one side only. x86-64, Linux.
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

// long hpcrun_part(ThreadRecord*, long clone_flags): 0 in the converted thread, a negated errno where there is none. The
// original does not return from here: it parks, and returns from the hpcrun_leave() of its converted thread.
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
  movq 8(%rbx), %rsp  // the thread's stack is the process's from now on
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

// long hpcrun_passed_call(long number, const long* arguments, const std::atomic<uint32_t>* stop): the system
// call, or kNotExecuted where *stop is not 0, or where a handler of ours sends the thread to
// hpcrun_passed_call_stopped before the call was made: between _begin and _end. kEndedByHandler where one of the
// program's came there, and sends it to hpcrun_passed_call_ended.
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

// void hpcrun_stand_still(std::atomic<uint32_t>* stands, const std::atomic<uint32_t>* word, uint32_t value):
// stores 1 to *stands, and returns when *word is not `value` any more. From that store on nothing writes to the
// stack, so that whoever waits for it may copy it and map the copy there. All signals are blocked.
  .globl hpcrun_stand_still
  .hidden hpcrun_stand_still
  .type hpcrun_stand_still, @function
hpcrun_stand_still:
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
  .size hpcrun_stand_still, . - hpcrun_stand_still

  .section .rodata
  .balign 16
hpcrun_millisecond:
  .quad 0, 1000000
  .text

// The return from our handlers. Unwinders know it by these very bytes, debuggers by the C library's name for it.
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

// void hpcrun_return_to(const void* frame): rt_sigreturn of a frame of the program's, with the stack there.
  .globl hpcrun_return_to
  .hidden hpcrun_return_to
  .type hpcrun_return_to, @function
hpcrun_return_to:
  movq %rdi, %rsp
  movl $15, %eax
  syscall
  .size hpcrun_return_to, . - hpcrun_return_to

// System calls whose child goes on where they were made, with memory in common (clone, clone3, vfork): they
// cannot be made in a handler. So each place in the program that makes them gets one of these, to which the
// handler returns instead: the call, and a jump back behind the program's own instruction. rcx and r11 are
// what a system call clobbers. hpcrun_clone_places has the way back.
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

// Of what the program has in registers, all is kept; below a vfork's stack lies its red zone.
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

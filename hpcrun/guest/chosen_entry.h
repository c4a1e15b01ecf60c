#pragma once
// Defines functions that jump to an implementation chosen at each call, with their caller's stack unchanged.
// For system calls that return twice, or on another stack.

// HPCRUN_CHOSEN_ENTRY(name, choose) defines the function `name`. `choose` is a function with C linkage that
// receives its first six arguments and returns the implementation to jump to.
#define HPCRUN_CHOSEN_ENTRY(name, choose) asm("hpcrun_chosen_entry " #name ", " #choose)

asm(R"(
.macro hpcrun_chosen_entry name, choose
  .text
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  pushq %rcx
  .cfi_adjust_cfa_offset 8
  pushq %r8
  .cfi_adjust_cfa_offset 8
  pushq %r9
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call \choose
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %r9
  .cfi_adjust_cfa_offset -8
  popq %r8
  .cfi_adjust_cfa_offset -8
  popq %rcx
  .cfi_adjust_cfa_offset -8
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size \name, . - \name
.endm
)");

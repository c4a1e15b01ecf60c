/* The program's entry. Valgrind's core expects VALGRIND_LAUNCHER in its environment: the program that it executes when
   the program that it runs executes another. This tool is its own launcher, so it adds the variable itself: Valgrind
   takes it out of the environment of what it runs.
   SPDX-License-Identifier: GPL-2.0-or-later */
#include "profexact.h"

#define AT_EXECFN 31
#define VARIABLE "VALGRIND_LAUNCHER="

__asm__(
    ".globl pe_start\n"
    "pe_start:\n"
    "  movq %rsp, %rbx\n"
    "  andq $-16, %rsp\n"
    "  movq %rbx, %rdi\n"
    "  call pe_stack_bytes\n"
    "  subq %rax, %rsp\n"
    "  movq %rbx, %rdi\n"
    "  movq %rsp, %rsi\n"
    "  call pe_copy_stack\n"
    "  jmp _start\n");

UWord pe_stack_bytes(const UWord* stack);
void pe_copy_stack(const UWord* stack, UWord* copy);

/* The initial stack: argument count, arguments, 0, variables, 0, pairs of the auxiliary vector up to type 0. */
static const UWord* variables_of(const UWord* stack) {
  return stack + 1 + stack[0] + 1;
}

static const UWord* auxiliary_of(const UWord* stack) {
  const UWord* at = variables_of(stack);
  while (*at != 0) ++at;
  return at + 1;
}

static const UWord* end_of(const UWord* stack) {
  const UWord* at = auxiliary_of(stack);
  while (*at != 0) at += 2;
  return at + 2;
}

static const HChar* path_of_tool(const UWord* stack) {
  for (const UWord* at = auxiliary_of(stack); *at != 0; at += 2)
    if (*at == AT_EXECFN) return (const HChar*)at[1];
  return (const HChar*)stack[1];
}

static UWord length_of(const HChar* text) {
  UWord length = 0;
  while (text[length] != 0) ++length;
  return length;
}

/* Returns the space for a copy of the stack with one more variable. */
UWord pe_stack_bytes(const UWord* stack) {
  const UWord words = (UWord)(end_of(stack) - stack) + 1;
  const UWord bytes = words * sizeof(UWord) + sizeof VARIABLE + length_of(path_of_tool(stack));
  return (bytes + 15) / 16 * 16;
}

void pe_copy_stack(const UWord* stack, UWord* copy) {
  const UWord* const end = end_of(stack);
  HChar* const text = (HChar*)(copy + (end - stack) + 1);
  const UWord* from = stack;
  UWord* to = copy;
  while (from < variables_of(stack)) *to++ = *from++;
  *to++ = (UWord)text;
  while (from < end) *to++ = *from++;
  const HChar* const path = path_of_tool(stack);
  UWord at = 0;
  for (const HChar* c = VARIABLE; *c != 0; ++c) text[at++] = *c;
  for (UWord i = 0; i <= length_of(path); ++i) text[at + i] = path[i];
}

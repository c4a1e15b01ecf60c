// Walks a stack that the program made itself, as libraries of fibers do: the walk ends at the stack's base.

#include <setjmp.h>

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "tests/unwind/walk.h"

using namespace prof_test;

// Like Boost's make_fcontext(): a fiber's function is entered by a jump, and returns to code that ends the
// process. That code has no call frame information.
asm(R"(
  .text
  .p2align 4
  .globl enter_made_stack
  .type enter_made_stack, @function
enter_made_stack:
  mov %rdi, %rsp
  lea made_stack_base(%rip), %rax
  push %rax
  jmp *%rsi
  .p2align 4
made_stack_base:
  xor %edi, %edi
  call abort@PLT
  hlt
  .size enter_made_stack, .-enter_made_stack
)");

extern "C" [[noreturn]] void enter_made_stack(void* top, void (*function)());

namespace {

jmp_buf left;
void* bait = nullptr;

__attribute__((noipa)) void remember_caller() {
  bait = __builtin_return_address(0);
}

// A call through a pointer from code with call frame information: its return address above the base would
// look like a caller.
__attribute__((noipa)) void call_through_pointer(void (*callee)()) {
  callee();
  keep_spinning = false;  // so that it is not a tail call
}

void walk_on_made_stack() {
  raise_walk();
  _longjmp(left, 1);
}

}  // namespace

TEST_CASE("the walk of a fiber ends at its base, whatever lies above") {
  Walk test;
  // In a thread of its own, so that no word that looks like a caller is left on this stack.
  std::thread(call_through_pointer, remember_caller).join();
  REQUIRE(bait != nullptr);
  constexpr size_t kWords = 16 * 1024, kAbove = 512;
  std::vector<void*> stack(kWords + kAbove, bait);
  auto top = reinterpret_cast<uintptr_t>(stack.data() + kWords);
  top -= top % 16;
  if (_setjmp(left) == 0) enter_made_stack(reinterpret_cast<void*>(top), walk_on_made_stack);
  CHECK(test.result.reason == StackReason::ForeignStack);
  CHECK(test.frames_in(call_through_pointer, 16) == 0);
  CHECK(test.frames_in(enter_made_stack) == 1);
  CHECK(test.result.depth < 8);
}

// Walks by call frame information in unusual places: frames that no table row can describe, registers with
// garbage, endless stacks.

#include <catch2/catch.hpp>
#include <cstdio>
#include <random>
#include <thread>

#include "hpcrun/guest/safe_load.h"
#include "tests/unwind/walk.h"

using namespace prof_test;

// Frames whose CFA no simple rule gives. Each calls its argument.
asm(R"(
  .text
  .macro begin name
  .p2align 4
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  .endm
  .macro finish name
  .cfi_endproc
  .size \name, .-\name
  .endm

  begin cfa_on_rbx
  push %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_offset %rbx, -16
  mov %rsp, %rbx
  .cfi_def_cfa_register %rbx
  sub $0x123, %rsp
  and $-64, %rsp
  call *%rdi
  mov %rbx, %rsp
  .cfi_def_cfa_register %rsp
  pop %rbx
  .cfi_adjust_cfa_offset -8
  ret
  finish cfa_on_rbx

  begin keeps_rbx_busy
  push %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_offset %rbx, -16
  mov $-1, %rbx
  call *%rdi
  pop %rbx
  .cfi_adjust_cfa_offset -8
  ret
  finish keeps_rbx_busy

  begin cfa_by_expression
  sub $8, %rsp
  .cfi_escape 0x0f, 4, 0x77, 8, 0x23, 8
  call *%rdi
  add $8, %rsp
  .cfi_def_cfa %rsp, 8
  ret
  finish cfa_by_expression

  begin rbx_kept_in_r12
  push %r12
  .cfi_adjust_cfa_offset 8
  .cfi_offset %r12, -16
  mov %rbx, %r12
  .cfi_register %rbx, %r12
  mov $-1, %rbx
  call *%rdi
  mov %r12, %rbx
  .cfi_restore %rbx
  pop %r12
  .cfi_adjust_cfa_offset -8
  ret
  finish rbx_kept_in_r12

  begin spin_with_bad_stack_pointer
  mov %rsp, %rax
  mov %rdi, %rsp
1:
  cmpb $0, (%rsi)
  jne 1b
  mov %rax, %rsp
  ret
  finish spin_with_bad_stack_pointer

  begin bottom_of_stack
  .cfi_undefined %rip
  sub $8, %rsp
  call *%rdi
  add $8, %rsp
  ret
  finish bottom_of_stack
)");
extern "C" {
void cfa_on_rbx(Callback);
void keeps_rbx_busy(Callback);
void cfa_by_expression(Callback);
void rbx_kept_in_r12(Callback);
void spin_with_bad_stack_pointer(uint64_t stack_pointer, const volatile bool* until_false);
void bottom_of_stack(Callback);
}

TEST_CASE("the walk of a thread ends where its start is marked") {
  Walk in_main;
  raise_walk();
  CHECK(in_main.result.reason == StackReason::EndOfStack);
  CHECK(in_main.reached_main());
  StackReason reason = StackReason::Count;
  std::thread([&] {
    Walk in_thread;
    raise_walk();
    reason = in_thread.result.reason;
  }).join();
  CHECK(reason == StackReason::EndOfStack);
}

TEST_CASE("a frame that marks its return address undefined is the last") {
  Walk test;
  bottom_of_stack(raise_walk);
  CHECK(test.result.reason == StackReason::EndOfStack);
  CHECK(test.frames_in(bottom_of_stack, 16) == 1);
  CHECK_FALSE(test.reached_main());
}

TEST_CASE("a CFA on rbx is found also where inner frames have saved rbx and use it") {
  Walk test;
  cfa_on_rbx([] { keeps_rbx_busy(raise_walk); });
  CHECK(test.frames_in(cfa_on_rbx, 32) == 1);
  CHECK(test.frames_in(keeps_rbx_busy, 16) == 1);
  CHECK(test.reached_main());
}

TEST_CASE("a CFA by an expression of its own is interpreted") {
  Walk test;
  cfa_by_expression(raise_walk);
  CHECK(test.frames_in(cfa_by_expression, 16) == 1);
  CHECK(test.reached_main());
}

TEST_CASE("a register that another register keeps is found for the CFA above") {
  Walk test;
  cfa_on_rbx([] { rbx_kept_in_r12([] { cfa_by_expression(raise_walk); }); });
  CHECK(test.frames_in(cfa_on_rbx, 32) == 1);
  CHECK(test.frames_in(rbx_kept_in_r12, 32) == 1);
  CHECK(test.reached_main());
}

TEST_CASE("recursion beyond the depth limit is cut at the root end and said to be") {
  Walk test;
  struct Recursion {
    static __attribute__((noipa)) int down(uint32_t depth) {
      if (depth == 0) {
        raise_walk();
        return 0;
      }
      volatile int one = 1;  // keeps the recursion from becoming a loop
      return down(depth - 1) + one;
    }
  };
  REQUIRE(Recursion::down(kMaxDepth + 100) == kMaxDepth + 100);
  CHECK(test.result.reason == StackReason::TooDeep);
  CHECK(test.result.depth == kMaxDepth);
  REQUIRE(Recursion::down(5000) == 5000);
  CHECK(test.result.reason == StackReason::EndOfStack);
  CHECK(test.result.depth > 5000);
}

TEST_CASE("a garbage stack pointer, with SIGSEGV blocked, breaks the stack and nothing else") {
  Walk test;
  std::vector<char> alternate(64 * 1024);
  stack_t stack{};
  stack_t before{};
  stack.ss_sp = alternate.data();
  stack.ss_size = alternate.size();
  REQUIRE(sigaltstack(&stack, &before) == 0);
  prof_test::install_handler(kWalkSignal, walk_in_handler, SA_ONSTACK);
  sigset_t block;
  sigemptyset(&block);
  sigaddset(&block, SIGSEGV);
  sigaddset(&block, SIGBUS);
  pthread_sigmask(SIG_BLOCK, &block, nullptr);
  const auto method = GENERATE(SafeLoadMethod::ProcessVmReadv, SafeLoadMethod::SignalMaskProbe);
  set_safe_load_method(method);
  for (const uint64_t garbage : {uint64_t{0x10}, uint64_t{0x7ffffffff000}, uint64_t{0xdeadbeefdeadbee0},
                                 uint64_t{0xffffffffff600000}, uint64_t{0x00007fffffffffff}}) {
    do {  // on a busy machine the signal may arrive before the loop
      keep_spinning = true;
      const prof_test::ThreadTimer timer(kWalkSignal, 250'000);
      spin_with_bad_stack_pointer(garbage, &keep_spinning);
    } while (test.frames_in(spin_with_bad_stack_pointer, 32) == 0);
    CHECK(test.result.depth == 1);
    CHECK(test.result.reason == StackReason::UnreadableStack);
  }
  set_safe_load_method(SafeLoadMethod::ProcessVmReadv);
  pthread_sigmask(SIG_UNBLOCK, &block, nullptr);
  sigaltstack(&before, nullptr);
}

TEST_CASE("any registers at any code address end in a named reason") {
  Walk test;
  sigset_t block;
  sigemptyset(&block);
  sigaddset(&block, SIGSEGV);
  sigaddset(&block, SIGBUS);
  pthread_sigmask(SIG_BLOCK, &block, nullptr);
  std::mt19937_64 random(7);
  struct Range {
    uint64_t start;
    uint64_t bytes;
  };
  std::vector<Range> code;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type == PT_LOAD) {
            static_cast<std::vector<Range>*>(to)->push_back(
                {info->dlpi_addr + header.p_vaddr, header.p_memsz});
          }
        }
        return 0;
      },
      &code);
  std::vector<uint64_t> heap(4096);
  const auto bounds = prof_test::own_stack_bounds();
  const auto any_address = [&]() -> uint64_t {
    const Range& range = code[random() % code.size()];
    switch (random() % 6) {
      case 0:
        return random();
      case 1:
        return random() >> 17;
      case 2:
        return reinterpret_cast<uint64_t>(heap.data()) + random() % (heap.size() * 8);
      case 3:
        return reinterpret_cast<uint64_t>(&heap) - 4096 + random() % 8192;
      case 4:
        return bounds.high - 64 + random() % 128;
      default:
        return range.start + random() % range.bytes;
    }
  };
  for (uint64_t& word : heap) word = any_address();
  uint64_t ends[static_cast<size_t>(StackReason::Count)] = {};
  constexpr int kWalks = 60'000;
  for (int i = 0; i < kWalks; ++i) {
    ucontext_t context{};
    for (greg_t& reg : context.uc_mcontext.gregs) reg = static_cast<greg_t>(any_address());
    const Range& range = code[random() % code.size()];
    if (i % 4 != 0)
      context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(range.start + random() % range.bytes);
    const Stack stack = test.walker.unwinder.walk(context);
    REQUIRE(stack.reason < StackReason::Count);
    REQUIRE(stack.depth >= 1);
    ++ends[static_cast<size_t>(stack.reason)];
  }
  pthread_sigmask(SIG_UNBLOCK, &block, nullptr);
  uint64_t broken = 0;
  for (size_t i = 0; i < std::size(ends); ++i) {
    std::printf("reason %zu: %lu\n", i, ends[i]);
    if (stack_class(static_cast<StackReason>(i)) == StackClass::Broken) broken += ends[i];
  }
  // Data that a leaf appears to execute is taken for generated code.
  const uint64_t stopped = broken + ends[static_cast<size_t>(StackReason::GeneratedCode)];
  CHECK(stopped > kWalks / 4);
}

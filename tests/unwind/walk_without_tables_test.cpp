// Walks through code without call frame information: generated code, assembly, trampolines, addresses without
// code.

#include <setjmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/unwind/walk.h"

using namespace prof_test;

namespace {

// Executable memory with code written into it, as JIT compilers use.
class Jit {
 public:
  explicit Jit(const std::vector<uint8_t>& code, size_t offset = 0) {
    at_ = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at_ != MAP_FAILED);
    entry_ = static_cast<char*>(at_) + offset;
    std::memcpy(entry_, code.data(), code.size());
  }
  ~Jit() { munmap(at_, 4096); }
  Jit(const Jit&) = delete;
  Jit& operator=(const Jit&) = delete;
  void* entry() const { return entry_; }
  void call(Callback callback) const { reinterpret_cast<void (*)(Callback)>(entry_)(callback); }

 private:
  void* at_;
  char* entry_;
};

// push %rbp; mov %rsp,%rbp; sub $32,%rsp; call *%rdi; leave; ret
const std::vector<uint8_t> kJitWithFramePointer = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83,
                                                   0xec, 0x20, 0xff, 0xd7, 0xc9, 0xc3};

}  // namespace

// Each function calls its argument, except the leaf, which raises SIGTRAP.
asm(R"(
  .text
  .p2align 4
  .globl without_information
  .type without_information, @function
without_information:
  sub $8, %rsp
  call *%rdi
  add $8, %rsp
  ret
  .size without_information, .-without_information

  # As encoders are written: registers are pushed, room is aligned, and rbp is one register more. An older return
  # address lies in the room: the leaf was not called from there. followed_leaf has its end in sight, assembly_leaf
  # gets there by a jump that nothing tells the target of.
  .p2align 4
  .globl followed_leaf
  .type followed_leaf, @function
followed_leaf:
  push %rbx
  push %rbp
  mov %rsp, %rbx
  sub $0x300, %rsp
  and $-64, %rsp
  mov %rdi, 0x40(%rsp)
  mov $-1, %rbp
  int3
  mov %rbx, %rsp
  pop %rbp
  pop %rbx
  ret
  .size followed_leaf, .-followed_leaf

  .p2align 4
  .globl assembly_leaf
  .type assembly_leaf, @function
assembly_leaf:
  push %rbx
  push %rbp
  mov %rsp, %rbx
  sub $0x300, %rsp
  and $-64, %rsp
  mov %rdi, 0x40(%rsp)
  mov $-1, %rbp
  lea 1f(%rip), %rax
  int3
  jmp *%rax
1:
  mov %rbx, %rsp
  pop %rbp
  pop %rbx
  ret
  .size assembly_leaf, .-assembly_leaf

  # As the C library's _start: what it calls never returns.
  .p2align 4
  .globl first_function
  .type first_function, @function
first_function:
  xor %ebp, %ebp
  push %rax
  call *%rdi
  hlt
  .size first_function, .-first_function

  # As compilers that keep neither tables nor frame pointers work: rbp is that of a caller further out, and a
  # function goes on to work after its calls.
  .p2align 4
  .globl bare_leaf
  .type bare_leaf, @function
bare_leaf:
  int3
  nop
  ret
  .size bare_leaf, .-bare_leaf
  .p2align 4, 0xcc
  .globl bare_middle
  .type bare_middle, @function
bare_middle:
  push %rax
  call bare_leaf
  mov %rax, (%rsp)
  inc %rax
  pop %rcx
  ret
  .size bare_middle, .-bare_middle
  .p2align 4, 0xcc
  .globl bare_top
  .type bare_top, @function
bare_top:
  push %rbx
  sub $0x10, %rsp
  call bare_middle
  mov %rax, %rbx
  add $0x10, %rsp
  pop %rbx
  ret
  .size bare_top, .-bare_top
  .p2align 4, 0xcc
  .globl bare_top_by_pointer
  .type bare_top_by_pointer, @function
bare_top_by_pointer:
  push %rbx
  lea bare_middle(%rip), %rax
  sub $0x10, %rsp
  call *%rax
  mov %rax, %rbx
  add $0x10, %rsp
  pop %rbx
  ret
  .size bare_top_by_pointer, .-bare_top_by_pointer

  .p2align 4
  .globl call_with_frame_pointer
  .type call_with_frame_pointer, @function
call_with_frame_pointer:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset rbp, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register rbp
  call *%rdi
  pop %rbp
  .cfi_def_cfa rsp, 8
  ret
  .cfi_endproc
  .size call_with_frame_pointer, .-call_with_frame_pointer

  # As the dynamic linker calls constructors: with any value in rbp.
  .p2align 4
  .globl call_without_frame_pointer
  .type call_without_frame_pointer, @function
call_without_frame_pointer:
  .cfi_startproc
  push %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbp, 0
  mov $5, %rbp
  call *%rdi
  pop %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbp
  ret
  .cfi_endproc
  .size call_without_frame_pointer, .-call_without_frame_pointer
)");
extern "C" {
void call_without_frame_pointer(void* code);
void call_with_frame_pointer(void (*code)());
void bare_leaf();
void bare_middle();
void bare_top();
void bare_top_by_pointer();
void without_information(Callback);
[[noreturn]] void first_function(Callback);
void assembly_leaf(uint64_t stale_return_address);
void followed_leaf(uint64_t stale_return_address);
}

TEST_CASE("JIT frames are passed through by their frame pointers, nested too") {
  Walk test;
  static const Jit outer(kJitWithFramePointer);
  static const Jit inner(kJitWithFramePointer, 160);
  outer.call([] { inner.call(raise_walk); });
  CHECK(test.result.reason == StackReason::JitFramePointer);
  CHECK(test.reached_main());
  const auto in_jit = [&](const Jit& jit) {
    return std::count(test.result.frames.begin(), test.result.frames.begin() + test.result.depth,
                      make_frame(kModuleNone, reinterpret_cast<uint64_t>(jit.entry()) + 9));
  };
  CHECK(in_jit(outer) == 1);
  CHECK(in_jit(inner) == 1);
}

TEST_CASE("a sample at any instruction of a JIT function finds its caller") {
  Walk test;
  // The same with int3 replacing one instruction after the other: entry, half-built frame, body, after leave.
  const std::vector<std::vector<uint8_t>> codes = {
      {0xcc, 0x55, 0x48, 0x89, 0xe5, 0xc9, 0xc3},
      {0x55, 0xcc, 0x48, 0x89, 0xe5, 0xc9, 0xc3},
      {0x55, 0x48, 0x89, 0xe5, 0xcc, 0x90, 0xc9, 0xc3},
      {0x55, 0x48, 0x89, 0xe5, 0xc9, 0xcc, 0xc3},
  };
  prof_test::install_handler(SIGTRAP, walk_in_handler);
  for (const auto& code : codes) {
    const Jit jit(code);
    test.result.depth = 0;
    jit.call(raise_walk);
    CAPTURE(code.size());
    CHECK(test.result.reason == StackReason::JitFramePointer);
    CHECK(test.reached_main());
  }
  signal(SIGTRAP, SIG_DFL);
}

TEST_CASE("code of a module without call frame information is passed or named, never guessed past main") {
  Walk test;
  without_information(raise_walk);
  if (stack_class(test.result.reason) == StackClass::Complete) {
    CHECK(test.result.reason == StackReason::JitFramePointer);
    CHECK(test.reached_main());
  } else {
    CHECK(test.result.reason == StackReason::NoUnwindInfo);
  }
  CHECK(test.frames_in(without_information, 16) == 1);
}

namespace {
// The address to which a call of raise_walk() by this function returns.
__attribute__((noipa)) uint64_t return_address_elsewhere() {
  return reinterpret_cast<uint64_t>(__builtin_extract_return_addr(__builtin_return_address(0)));
}
__attribute__((noipa)) uint64_t any_return_address() {
  const uint64_t address = return_address_elsewhere();
  keep_spinning = true;  // so that it is not a tail call
  return address;
}
__attribute__((noipa)) void calls_assembly(uint64_t stale) {
  assembly_leaf(stale);
  keep_spinning = true;
}
__attribute__((noipa)) void calls_followed(uint64_t stale) {
  followed_leaf(stale);
  keep_spinning = true;
}
}  // namespace

TEST_CASE("the caller of assembly without information is searched for, past what calls before have left") {
  Walk test;
  prof_test::install_handler(SIGTRAP, walk_in_handler);
  calls_assembly(any_return_address());
  signal(SIGTRAP, SIG_DFL);
  CHECK(test.result.reason == StackReason::SearchedLeaf);
  CHECK(test.frames_in(assembly_leaf) == 1);
  CHECK(test.frames_in(calls_assembly, 24) == 1);
  CHECK(test.frames_in(any_return_address, 24) == 0);
  CHECK(test.reached_main());
}

TEST_CASE("assembly without information is left as its instructions up to the return say") {
  Walk test;
  prof_test::install_handler(SIGTRAP, walk_in_handler);
  calls_followed(any_return_address());
  signal(SIGTRAP, SIG_DFL);
  CHECK(test.result.reason == StackReason::JitFramePointer);
  CHECK(test.frames_in(followed_leaf) == 1);
  CHECK(test.frames_in(calls_followed, 24) == 1);
  CHECK(test.frames_in(any_return_address, 24) == 0);
  CHECK(test.reached_main());
}

TEST_CASE("a function that calls what never returns is the first one, without information as well") {
  Walk test;
  static jmp_buf back;
  if (setjmp(back) == 0)
    first_function([] {
      raise_walk();
      longjmp(back, 1);
    });
  CHECK(stack_class(test.result.reason) == StackClass::Complete);
  REQUIRE(test.result.depth > 1);
  CHECK(test.frames_in(first_function, 16) == 1);
  const FrameKey outermost = test.result.frames[test.result.depth - 1];
  CHECK(frame_offset(outermost) == reinterpret_cast<uint64_t>(first_function) - prof_test::bias_of_program() + 4);
}

TEST_CASE("callers without tables and frame pointers are found by the calls that lead to the code at hand") {
  Walk test;
  prof_test::install_handler(SIGTRAP, walk_in_handler);
  call_with_frame_pointer(bare_top);
  signal(SIGTRAP, SIG_DFL);
  CHECK(test.frames_in(bare_leaf, 16) == 1);
  CHECK(test.frames_in(bare_middle, 16) == 1);
  CHECK(test.frames_in(bare_top, 32) == 1);
  CHECK(test.frames_in(call_with_frame_pointer, 16) == 1);
}

TEST_CASE("a walk that may have skipped a caller without tables is partial") {
  Walk test;
  prof_test::install_handler(SIGTRAP, walk_in_handler);
  call_with_frame_pointer(bare_top_by_pointer);
  signal(SIGTRAP, SIG_DFL);
  CHECK(test.frames_in(bare_middle, 16) == 1);
  CHECK((test.frames_in(bare_top_by_pointer, 32) == 1 ||
         stack_class(test.result.reason) == StackClass::Partial));
}

TEST_CASE("a sample at any instruction of the C library's _init finds its caller") {
  Walk test;
  const std::vector<std::vector<uint8_t>> instructions = {
      {0x48, 0x83, 0xec, 0x08},                    // sub $8,%rsp
      {0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00},  // mov 256(%rip),%rax: zeros
      {0x48, 0x85, 0xc0},                          // test %rax,%rax
      {0x74, 0x02},                                // je to the add
      {0xff, 0xd0},                                // call *%rax
      {0x48, 0x83, 0xc4, 0x08},                    // add $8,%rsp
      {0xc3},                                      // ret
  };
  prof_test::install_handler(SIGTRAP, walk_in_handler);
  for (size_t stop = 0; stop < instructions.size(); ++stop) {
    if (stop == 4) continue;  // the jump skips it
    std::vector<uint8_t> code;
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (i == stop) code.push_back(0xcc);
      code.insert(code.end(), instructions[i].begin(), instructions[i].end());
    }
    const Jit jit(code);
    test.result.depth = 0;
    call_without_frame_pointer(jit.entry());
    CAPTURE(stop);
    CHECK(test.frames_in(call_without_frame_pointer, 24) == 1);
    CHECK(test.reached_main());
  }
  signal(SIGTRAP, SIG_DFL);
}

TEST_CASE("a trampoline without frame pointer is left as its last instructions say") {
  Walk test;
  // sub $8,%rsp; call *%rdi; add $8,%rsp; ret: the trampoline through which Python calls functions for `perf`
  static const Jit trampoline({0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3});
  const auto by_way_of = [] { trampoline.call(raise_walk); };
  by_way_of();
  CHECK(test.result.reason == StackReason::JitFramePointer);
  CHECK(std::count(test.result.frames.begin(), test.result.frames.begin() + test.result.depth,
                   make_frame(kModuleNone, reinterpret_cast<uint64_t>(trampoline.entry()) + 5)) == 1);
  CHECK(test.reached_main());
}

TEST_CASE("an interpreter that calls by jumps is walked by its frame pointers") {
  Walk test;
  // push %rbp; mov %rsp,%rbp; then as a call whose return address follows no call: lea 9(%rip),%rax; push
  // %rax; jmp *%rsi with rsi = what calls rdi; nops; leave; ret
  static const Jit inner(kJitWithFramePointer, 1024);
  std::vector<uint8_t> code = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x05, 0x09, 0,    0,    0,
                               0x50, 0xff, 0xe6, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc9, 0xc3};
  static const Jit* outer;
  const Jit interpreter(code);
  outer = &interpreter;
  const auto start = [] {
    reinterpret_cast<void (*)(Callback, void*)>(outer->entry())(raise_walk, inner.entry());
    keep_spinning = false;
  };
  start();
  CHECK(test.result.reason == StackReason::JitFramePointer);
  CHECK(test.reached_main());
}

TEST_CASE("generated code that keeps no frame pointer ends the walk and is named as what does") {
  Walk test;
  // push %rbp; sub $64,%rsp; or $-1,%rbp; int3; nop; nop; add $64,%rsp; nop; pop %rbp; ret
  static const Jit busy({0x55, 0x48, 0x83, 0xec, 0x40, 0x48, 0x83, 0xcd, 0xff, 0xcc, 0x90, 0x90, 0x48, 0x83,
                         0xc4, 0x40, 0x90, 0x5d, 0xc3});
  prof_test::install_handler(SIGTRAP, walk_in_handler);
  busy.call(raise_walk);
  signal(SIGTRAP, SIG_DFL);
  CHECK(test.result.reason == StackReason::GeneratedCode);
  CHECK(stack_class(test.result.reason) == StackClass::Partial);
  CHECK(test.result.depth == 1);
}

namespace {
__attribute__((noipa)) void call_nowhere() {
  void (*volatile null)() = nullptr;
  null();
  keep_spinning = false;  // so that it is not a tail call
}
}  // namespace

TEST_CASE("a call through a null pointer shows who called") {
  Walk test;
  static sigjmp_buf* volatile back;
  sigjmp_buf here;
  back = &here;
  prof_test::install_handler(SIGSEGV, [](int number, siginfo_t* info, void* context) {
    walk_in_handler(number, info, context);
    siglongjmp(*back, 1);
  });
  if (sigsetjmp(here, 1) == 0) call_nowhere();
  signal(SIGSEGV, SIG_DFL);
  CHECK(test.result.frames[0] == make_frame(kModuleNone, 0));
  CHECK(test.frames_in(call_nowhere) == 1);
  CHECK(test.reached_main());
}

TEST_CASE("a signal restorer without call frame information is recognised by its code") {
  Walk test;
  static const Jit restorer({0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, 32);
  struct KernelAction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  } action{[](int) { raise_walk(); }, 0x04000000 /* SA_RESTORER */, nullptr, 0};
  action.restorer = reinterpret_cast<void (*)()>(restorer.entry());
  REQUIRE(syscall(SYS_rt_sigaction, SIGUSR2, &action, nullptr, 8) == 0);
  raise(SIGUSR2);
  signal(SIGUSR2, SIG_DFL);
  CHECK(test.result.reason == StackReason::EndOfStack);
  CHECK(test.reached_main());
}

// Walks through the odd places: code without call frame information, registers that are garbage, frames that
// no table row can hold, modules nobody announced.
#include <catch2/catch.hpp>

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "hpcrun/guest/safe_load.h"
#include "tests/unwind/thread_sampler.h"

namespace {

using namespace hpcrun;
using prof_test::ThreadWalker;

const int kWalkSignal = SIGRTMIN + 4;

std::map<uint16_t, std::string> module_paths;
void remember_module(const ModuleInfo& info) noexcept {
  module_paths[info.id] = info.path;
}

// What the handler leaves for the test.
struct Walked {
  ThreadWalker* walker = nullptr;
  uint32_t depth = 0;
  StackReason reason = StackReason::Count;
  std::vector<FrameKey> frames = std::vector<FrameKey>(kMaxDepth);
};
thread_local Walked* walked;
volatile bool keep_spinning;

void walk_in_handler(int, siginfo_t*, void* context) {
  const Stack stack = walked->walker->unwinder.walk(*static_cast<ucontext_t*>(context));
  walked->depth = stack.depth;
  walked->reason = stack.reason;
  std::copy(stack.frames, stack.frames + stack.depth, walked->frames.begin());
  keep_spinning = false;
}

uint64_t bias_of_program() {
  uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        *static_cast<uint64_t*>(to) = info->dlpi_addr;
        return 1;
      },
      &bias);
  return bias;
}

struct Fixture {
  ThreadWalker walker;
  Walked result;

  Fixture() {
    set_module_sink(remember_module);
    refresh_modules();
    prof_test::install_handler(kWalkSignal, walk_in_handler);
    result.walker = &walker;
    walked = &result;
  }

  // How many frames lie in [start, start + bytes) of this program.
  template <typename Function>
  size_t frames_in(Function* function, uint64_t bytes = 64) const {
    const uint64_t start = reinterpret_cast<uint64_t>(function) - bias_of_program();
    return static_cast<size_t>(
        std::count_if(result.frames.begin(), result.frames.begin() + result.depth, [&](FrameKey key) {
          return module_paths[frame_module(key)].find("test_unwind_walk") != std::string::npos &&
                 frame_offset(key) >= start && frame_offset(key) < start + bytes;
        }));
  }
  bool reached_main() const {
    return stack_class(result.reason) == StackClass::Complete && result.depth > 3 &&
           module_paths[frame_module(result.frames[result.depth - 1])].find("test_unwind_walk") !=
               std::string::npos;
  }
};

using Callback = void (*)();

void raise_walk() {
  raise(kWalkSignal);
}

// Executable memory with code written into it, as a JIT compiler has it.
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
  # address lies in the room: the leaf was not called from there.
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
  int3
  mov %rbx, %rsp
  pop %rbp
  pop %rbx
  ret
  .size assembly_leaf, .-assembly_leaf
)");
extern "C" {
void cfa_on_rbx(Callback);
void keeps_rbx_busy(Callback);
void cfa_by_expression(Callback);
void rbx_kept_in_r12(Callback);
void spin_with_bad_stack_pointer(uint64_t stack_pointer, const volatile bool* until_false);
void bottom_of_stack(Callback);
void without_information(Callback);
void assembly_leaf(uint64_t stale_return_address);
}

TEST_CASE("the walk of a thread ends where its start is marked") {
  Fixture in_main;
  raise_walk();
  CHECK(in_main.result.reason == StackReason::EndOfStack);
  CHECK(in_main.reached_main());
  StackReason reason = StackReason::Count;
  std::thread([&] {
    Fixture in_thread;
    raise_walk();
    reason = in_thread.result.reason;
  }).join();
  CHECK(reason == StackReason::EndOfStack);
}

TEST_CASE("a frame that marks its return address undefined is the last") {
  Fixture test;
  bottom_of_stack(raise_walk);
  CHECK(test.result.reason == StackReason::EndOfStack);
  CHECK(test.frames_in(bottom_of_stack, 16) == 1);
  CHECK_FALSE(test.reached_main());
}

TEST_CASE("a CFA on rbx is found also where inner frames have saved rbx and use it") {
  Fixture test;
  cfa_on_rbx([] { keeps_rbx_busy(raise_walk); });
  CHECK(test.frames_in(cfa_on_rbx, 32) == 1);
  CHECK(test.frames_in(keeps_rbx_busy, 16) == 1);
  CHECK(test.reached_main());
}

TEST_CASE("a CFA by an expression of its own is interpreted") {
  Fixture test;
  cfa_by_expression(raise_walk);
  CHECK(test.frames_in(cfa_by_expression, 16) == 1);
  CHECK(test.reached_main());
}

TEST_CASE("a register that another register keeps is found for the CFA above") {
  Fixture test;
  cfa_on_rbx([] { rbx_kept_in_r12([] { cfa_by_expression(raise_walk); }); });
  CHECK(test.frames_in(cfa_on_rbx, 32) == 1);
  CHECK(test.frames_in(rbx_kept_in_r12, 32) == 1);
  CHECK(test.reached_main());
}

TEST_CASE("JIT frames are passed through by their frame pointers, nested too") {
  Fixture test;
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
  Fixture test;
  // The same with int3 in place of one instruction after the other: entry, frame half made, body, after
  // leave.
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
  Fixture test;
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
}  // namespace

TEST_CASE("the caller of assembly without information is searched for, past what calls before have left") {
  Fixture test;
  prof_test::install_handler(SIGTRAP, walk_in_handler);
  calls_assembly(any_return_address());
  signal(SIGTRAP, SIG_DFL);
  CHECK(test.result.reason == StackReason::SearchedLeaf);
  CHECK(test.frames_in(assembly_leaf) == 1);
  CHECK(test.frames_in(calls_assembly) == 1);
  CHECK(test.frames_in(any_return_address) == 0);
  CHECK(test.reached_main());
}

TEST_CASE("a trampoline without frame pointer is left as its last instructions say") {
  Fixture test;
  // sub $8,%rsp; call *%rdi; add $8,%rsp; ret: what Python calls its functions through for `perf`
  static const Jit trampoline({0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3});
  const auto by_way_of = [] { trampoline.call(raise_walk); };
  by_way_of();
  CHECK(test.result.reason == StackReason::JitFramePointer);
  CHECK(std::count(test.result.frames.begin(), test.result.frames.begin() + test.result.depth,
                   make_frame(kModuleNone, reinterpret_cast<uint64_t>(trampoline.entry()) + 5)) == 1);
  CHECK(test.reached_main());
}

TEST_CASE("an interpreter that calls by jumps is walked by its frame pointers") {
  Fixture test;
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
  Fixture test;
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
  Fixture test;
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
  Fixture test;
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

TEST_CASE("recursion beyond the depth limit is cut at the root end and said to be") {
  Fixture test;
  struct Recursion {
    static __attribute__((noipa)) int down(uint32_t depth) {
      if (depth == 0) {
        raise_walk();
        return 0;
      }
      volatile int one = 1;  // keeps the recursion a recursion
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
  Fixture test;
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
    do {  // on a busy machine the signal comes before the loop
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
  Fixture test;
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
  // Data that a leaf seems to execute is taken for generated code.
  const uint64_t stopped = broken + ends[static_cast<size_t>(StackReason::GeneratedCode)];
  CHECK(stopped > kWalks / 4);
}

TEST_CASE(
    "a module that nobody announced is walked through by its own bytes, announced once, and kept by "
    "refresh") {
  Fixture test;
  void* library = dlopen(GROUND_TRUTH_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  CHECK_FALSE(modules_are_stale());
  using Visitor = uint64_t (*)(void*, uint64_t);
  const auto foreach = reinterpret_cast<uint64_t (*)(void*, uint64_t, Visitor)>(dlsym(library, "gt_foreach"));
  REQUIRE(foreach != nullptr);
  char shadow[64] = {};
  const auto run = [&] {
    foreach (shadow, 1, [](void*, uint64_t value) {
      raise_walk();
      return value;
    })
      ;
  };
  const auto library_frames = [&] {
    uint16_t id = 0;
    size_t count = 0;
    for (uint32_t i = 0; i < test.result.depth; ++i) {
      const uint16_t module = frame_module(test.result.frames[i]);
      if (module_paths[module].find("libground_truth_library.so") == std::string::npos) continue;
      id = module;
      ++count;
    }
    return std::pair(id, count);
  };
  run();
  CHECK(modules_are_stale());
  CHECK(test.reached_main());
  CHECK(test.result.reason == StackReason::EndOfStack);
  const auto [id, count] = library_frames();
  CHECK(count == 1);

  refresh_modules();
  CHECK_FALSE(modules_are_stale());
  run();
  CHECK_FALSE(modules_are_stale());
  CHECK(library_frames() == std::pair(id, size_t{1}));

  // Unloaded and loaded again, it is the same module, and its table costs nothing more.
  invalidate_walk_caches();
  dlclose(library);
  refresh_modules();
  const size_t bytes = module_table_bytes();
  library = dlopen(GROUND_TRUTH_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  refresh_modules();
  CHECK(module_table_bytes() == bytes);
  CHECK(reinterpret_cast<void*>(foreach) == dlsym(library, "gt_foreach"));
  run();
  CHECK(library_frames() == std::pair(id, size_t{1}));
  dlclose(library);
  refresh_modules();
}

TEST_CASE("modules are announced with what names them, and again to a new sink") {
  Fixture test;
  static std::vector<ModuleInfo> announced;
  announced.clear();
  set_module_sink([](const ModuleInfo& info) noexcept { announced.push_back(info); });
  const auto libc = std::find_if(announced.begin(), announced.end(),
                                 [](const ModuleInfo& info) { return std::strstr(info.path, "libc.so.6"); });
  REQUIRE(libc != announced.end());
  const auto inside = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, "getpid"));
  CHECK(inside >= libc->start);
  CHECK(inside < libc->end);
  CHECK(libc->load_bias == libc->start);
  CHECK(libc->build_id_bytes == 20);
  CHECK(std::count_if(announced.begin(), announced.end(),
                      [&](const ModuleInfo& info) { return info.id == libc->id; }) == 1);
  const auto vdso = std::find_if(announced.begin(), announced.end(), [](const ModuleInfo& info) {
    return std::strcmp(info.path, "[vdso]") == 0;
  });
  REQUIRE(vdso != announced.end());
  CHECK(vdso->start == getauxval(AT_SYSINFO_EHDR));
  char self[4096] = {};
  REQUIRE(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
  CHECK(std::count_if(announced.begin(), announced.end(),
                      [&](const ModuleInfo& info) { return std::strcmp(info.path, self) == 0; }) == 1);
}

TEST_CASE("a forked child walks with the tables it inherited and announces its modules again") {
  Fixture test;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    modules_after_fork();
    static int announced;
    set_module_sink([](const ModuleInfo&) noexcept { ++announced; });
    // The walk's own memory belongs to the parent: arenas are not inherited.
    Arena arena;
    Unwinder unwinder;
    if (!unwinder.attach(arena, prof_test::own_stack_bounds())) _exit(3);
    ucontext_t context;
    getcontext(&context);
    const Stack stack = unwinder.walk(context);
    refresh_modules();
    _exit(announced > 3 && stack.reason == StackReason::EndOfStack && stack.depth > 5 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

// Works in a state of the processor in which much code cannot run: processor_state STATE.
//   counter         the time stamp counter is forbidden: reading it ends the process
//   alignment       unaligned accesses fault
//   thread_pointer  the base of fs is not the C library's, in the first thread and in one of clone(2)
// Prints "worked" and ends with status 42; 77: the machine does not have the state.

#include <asm/prctl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace {

constexpr int kTurns = 100'000'000;

[[gnu::noinline]] uint64_t work() {
  volatile uint64_t value = 1;
  for (int i = 0; i < kTurns; ++i) value = value * 3 + 1;
  return value;
}

void check_alignment(bool on) {
  constexpr unsigned long long kAlignmentCheck = 1 << 18;
  const unsigned long long flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(on ? flags | kAlignmentCheck : flags & ~kAlignmentCheck);
}

// Makes a system call without the C library, which needs its own thread pointer.
long system_call(long number, long a, long b) {
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b) : "rcx", "r11", "memory");
  return result;
}

uint64_t thread_pointer() {
  uint64_t pointer = 0;
  system_call(SYS_arch_prctl, ARCH_GET_FS, reinterpret_cast<long>(&pointer));
  return pointer;
}

// A thread pointer may be any address. Nothing near this one can be read or written.
constexpr uint64_t kNowhere = uint64_t{1} << 40;
uint64_t seen_in_handler = 0;

void note_thread_pointer(int) {
  seen_in_handler = thread_pointer();
}

std::atomic<int> cloned{1};
alignas(16) char clones_stack[64 * 1024];

int run_clone(void*) {
  work();
  cloned = 0;
  return 0;
}

bool work_with_other_thread_pointers() {
  ::signal(SIGTRAP, note_thread_pointer);
  const uint64_t own = thread_pointer();
  const auto process = static_cast<int>(system_call(SYS_getpid, 0, 0));
  constexpr int kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  if (clone(run_clone, clones_stack + sizeof clones_stack, kThread | CLONE_SETTLS, nullptr, nullptr,
            reinterpret_cast<void*>(kNowhere)) < 0)
    return false;
  system_call(SYS_arch_prctl, ARCH_SET_FS, static_cast<long>(kNowhere));
  work();
  system_call(SYS_kill, process, SIGTRAP);  // delivered to this thread at once
  const uint64_t after = thread_pointer();
  system_call(SYS_arch_prctl, ARCH_SET_FS, static_cast<long>(own));
  while (cloned) continue;
  return seen_in_handler == kNowhere && after == kNowhere;
}

}  // namespace

int main(int, char** arguments) {
  const std::string_view state = arguments[1];
  if (state == "counter") {
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) return 77;
    work();
    prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  } else if (state == "alignment") {
    check_alignment(true);
    work();
    check_alignment(false);
  } else if (!work_with_other_thread_pointers()) {
    std::puts("another thread pointer than expected");
    return 1;
  }
  std::puts("worked");
  return 42;
}

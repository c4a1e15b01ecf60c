// Installs a seccomp filter that answers some system calls by SIGSYS, whose handler counts them and makes
// them fail, or enters the strict mode: seccomp_traps prctl|seccomp|execute|strict. Two threads work
// meanwhile. Prints the number of trapped calls, and ends with status 42.

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

namespace {

volatile sig_atomic_t trapped = 0;
std::atomic<bool> ends{false};

[[gnu::noinline]] uint64_t work(int turns) {
  volatile uint64_t value = 1;
  for (int i = 0; i < turns; ++i) value = value * 3 + 1;
  return value;
}

void on_trap(int, siginfo_t*, void* raw) {
  trapped = trapped + 1;
  static_cast<ucontext_t*>(raw)->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

#define FILTER_TRAPS(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)

bool install(bool by_prctl) {
  static const sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      FILTER_TRAPS(SYS_gettid),
      FILTER_TRAPS(SYS_getpid),
      FILTER_TRAPS(SYS_process_vm_readv),
      FILTER_TRAPS(SYS_perf_event_open),
      FILTER_TRAPS(SYS_timer_create),
      FILTER_TRAPS(SYS_timer_settime),
      FILTER_TRAPS(SYS_clock_gettime),
      FILTER_TRAPS(SYS_socket),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof steps / sizeof *steps, const_cast<sock_filter*>(steps)};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0
                  : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

}  // namespace

int main(int, char** arguments) {
  const std::string_view way = arguments[1];
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  work(50'000'000);
  if (way == "strict") {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 77;
    work(50'000'000);
    constexpr char kText[] = "trapped 0\n";
    if (write(STDOUT_FILENO, kText, sizeof kText - 1) < 0) return 1;
    syscall(SYS_exit, 42);
  }
  std::thread other([] {
    while (!ends) work(1'000'000);
  });
  if (!install(way == "prctl")) return 77;
  syscall(SYS_gettid);
  work(100'000'000);
  ends = true;
  other.join();
  std::thread([] { work(1'000'000); }).join();
  if (way == "execute") execl("/bin/echo", "echo", "executed", nullptr);
  std::printf("trapped %d\n", static_cast<int>(trapped));
  return 42;
}

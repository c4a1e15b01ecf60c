#include "hpcrun/process/seccomp_filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstring>

namespace hpcrun {

namespace {

constexpr size_t kMemoryWords = BPF_MEMWORDS;

struct Machine {
  uint32_t a = 0;
  uint32_t x = 0;
  uint32_t memory[kMemoryWords] = {};
};

uint32_t computed(uint16_t operation, uint32_t a, uint32_t b) noexcept {
  switch (operation) {
    case BPF_ADD:
      return a + b;
    case BPF_SUB:
      return a - b;
    case BPF_MUL:
      return a * b;
    case BPF_DIV:
      return b ? a / b : 0;
    case BPF_OR:
      return a | b;
    case BPF_AND:
      return a & b;
    case BPF_XOR:
      return a ^ b;
    case BPF_LSH:
      return b < 32 ? a << b : 0;
    case BPF_RSH:
      return b < 32 ? a >> b : 0;
    default:
      return 0 - a;  // BPF_NEG
  }
}

bool holds(uint16_t condition, uint32_t a, uint32_t b) noexcept {
  switch (condition) {
    case BPF_JEQ:
      return a == b;
    case BPF_JGT:
      return a > b;
    case BPF_JGE:
      return a >= b;
    default:
      return a & b;  // BPF_JSET
  }
}

// Executes a load into the register. Returns false if the load is not valid.
bool load(const sock_filter& step, const Machine& machine, const seccomp_data& call,
          uint32_t& into) noexcept {
  switch (BPF_MODE(step.code)) {
    case BPF_IMM:
      into = step.k;
      return true;
    case BPF_LEN:
      into = sizeof call;
      return true;
    case BPF_MEM:
      if (step.k >= kMemoryWords) return false;
      into = machine.memory[step.k];
      return true;
    case BPF_ABS:
      if (step.k > sizeof call - sizeof into) return false;
      memcpy(&into, reinterpret_cast<const char*>(&call) + step.k, sizeof into);
      return true;
    default:
      return false;
  }
}

struct Call {
  int number;
  uint64_t arguments[6];
};

// The runtime's system calls from the start of measuring to its end, in a process that creates and ends
// threads. Arguments are those that filters check.
constexpr Call kCalls[] = {
    {SYS_rt_sigprocmask, {SIG_SETMASK}},
    {SYS_rt_sigaction, {}},
    {SYS_rt_sigreturn, {}},
    {SYS_rt_sigqueueinfo, {}},
    {SYS_rt_tgsigqueueinfo, {}},
    {SYS_tgkill, {}},
    {SYS_getpid, {}},
    {SYS_gettid, {}},
    {SYS_process_vm_readv, {}},
    {SYS_clock_gettime, {CLOCK_THREAD_CPUTIME_ID}},
    {SYS_nanosleep, {}},
    {SYS_sched_yield, {}},
    {SYS_prctl, {PR_GET_NAME}},
    {SYS_mmap, {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, ~uint64_t{0}}},
    {SYS_mmap, {0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 3}},
    {SYS_munmap, {}},
    {SYS_mprotect, {0, 4096, PROT_READ | PROT_WRITE}},
    {SYS_madvise, {}},
    {SYS_openat, {static_cast<uint64_t>(AT_FDCWD), 0, O_RDONLY | O_CLOEXEC}},
    {SYS_read, {3}},
    {SYS_close, {3}},
    {SYS_fallocate, {3}},
    {SYS_ftruncate, {3}},
    {SYS_fcntl, {3, F_DUPFD_CLOEXEC}},
    {SYS_ioctl, {3, PERF_EVENT_IOC_ENABLE}},
    {SYS_ioctl, {3, PERF_EVENT_IOC_DISABLE}},
    {SYS_perf_event_open, {}},
    {SYS_timer_create, {CLOCK_THREAD_CPUTIME_ID}},
    {SYS_timer_settime, {}},
    {SYS_timer_delete, {}},
};

}  // namespace

uint32_t filter_answer(const sock_filter* filter, size_t count, const seccomp_data& call) noexcept {
  Machine machine;
  for (size_t at = 0; at < count; ++at) {
    const sock_filter& step = filter[at];
    switch (BPF_CLASS(step.code)) {
      case BPF_LD:
        if (!load(step, machine, call, machine.a)) return SECCOMP_RET_KILL_PROCESS;
        break;
      case BPF_LDX:
        if (!load(step, machine, call, machine.x)) return SECCOMP_RET_KILL_PROCESS;
        break;
      case BPF_ST:
      case BPF_STX:
        if (step.k >= kMemoryWords) return SECCOMP_RET_KILL_PROCESS;
        machine.memory[step.k] = BPF_CLASS(step.code) == BPF_ST ? machine.a : machine.x;
        break;
      case BPF_ALU:
        machine.a = computed(BPF_OP(step.code), machine.a, BPF_SRC(step.code) == BPF_X ? machine.x : step.k);
        break;
      case BPF_JMP:
        if (BPF_OP(step.code) == BPF_JA)
          at += step.k;
        else
          at += holds(BPF_OP(step.code), machine.a, BPF_SRC(step.code) == BPF_X ? machine.x : step.k)
                    ? step.jt
                    : step.jf;
        break;
      case BPF_RET:
        return BPF_RVAL(step.code) == BPF_A ? machine.a : step.k;
      default:  // BPF_MISC
        if (BPF_MISCOP(step.code) == BPF_TAX)
          machine.x = machine.a;
        else
          machine.a = machine.x;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;
}

bool bears_measuring(const sock_filter* filter, size_t count) noexcept {
  for (const Call& call : kCalls) {
    seccomp_data data{};
    data.nr = call.number;
    data.arch = AUDIT_ARCH_X86_64;
    memcpy(data.args, call.arguments, sizeof data.args);
    const uint32_t answer = filter_answer(filter, count, data) & SECCOMP_RET_ACTION_FULL;
    if (answer != SECCOMP_RET_ALLOW && answer != SECCOMP_RET_LOG && answer != SECCOMP_RET_ERRNO) return false;
  }
  return true;
}

}  // namespace hpcrun

#include "prof/attach/interrupted_call.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "prof/base/message.h"

namespace prof {

namespace {

// Calls in which threads wait for something outside the process. A thread that waits there holds no lock of
// malloc or the loader.
constexpr long kWaits[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_poll,
    SYS_ppoll,
    SYS_select,
    SYS_pselect6,
    SYS_pause,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_accept,
    SYS_accept4,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_recvmmsg,
    SYS_sendto,
    SYS_sendmsg,
    SYS_wait4,
    SYS_waitid,
    SYS_semop,
    SYS_semtimedop,
    SYS_msgrcv,
    SYS_msgsnd,
    SYS_flock,
    SYS_rt_sigtimedwait,
    SYS_rt_sigsuspend,
    SYS_epoll_wait,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_io_getevents,
    SYS_sched_yield,
    // A wait with a timeout, after a stop or after a signal that the program ignores.
    SYS_restart_syscall,
};

// The calls among them that return EINTR when their thread is stopped (signal(7)), without having done
// anything.
constexpr long kRepeatable[] = {
    SYS_read,         SYS_write,        SYS_readv,    SYS_writev,          SYS_accept,     SYS_accept4,
    SYS_recvfrom,     SYS_recvmsg,      SYS_recvmmsg, SYS_sendto,          SYS_sendmsg,    SYS_semop,
    SYS_semtimedop,   SYS_msgrcv,       SYS_msgsnd,   SYS_rt_sigtimedwait, SYS_epoll_wait, SYS_epoll_pwait,
    SYS_epoll_pwait2, SYS_io_getevents,
};

template <size_t n>
bool contains(const long (&calls)[n], long call) {
  return std::find(std::begin(calls), std::end(calls), call) != std::end(calls);
}

// True if the thread waits for a condition variable, a semaphore or the end of a thread. Locks wait with
// FUTEX_WAIT.
bool is_wait_for_others(const user_regs_struct& registers) {
  constexpr uint64_t kOperation = 0x7f;
  constexpr uint64_t kWaitBitset = 9;
  return registers.orig_rax == SYS_futex && (registers.rsi & kOperation) == kWaitBitset;
}

uint64_t status_mask(int tid, std::string_view field) {
  std::ifstream status(fmt::format("/proc/{}/status", tid));
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, field.size(), field) == 0)
      return std::strtoull(line.c_str() + field.size() + 1, nullptr, 16);
  return 0;
}

// Returns the call that continues as restart_syscall(2) because it was stopped before. That number has no
// meaning after a signal return. The code before the instruction `syscall` has the call's own number: `mov
// $number,%eax`.
std::optional<long> restarted_call(int tid, uint64_t instruction) {
  constexpr size_t kMoveBytes = 5;
  std::array<unsigned char, kMoveBytes> move{};
  const iovec local{move.data(), move.size()};
  const iovec remote{reinterpret_cast<void*>(instruction - kMoveBytes), move.size()};
  if (process_vm_readv(tid, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(move.size()) || move[0] != 0xb8)
    return std::nullopt;
  uint32_t number = 0;
  std::memcpy(&number, &move[1], sizeof number);
  return contains(kWaits, number) || number == SYS_futex ? std::optional<long>(number) : std::nullopt;
}

// True if one of our events or timers raised the signal. It has the mark of hpcrun/sample/handler.h, or it is
// one of perf's. Neither may make a system call return early.
bool is_sample(const siginfo_t& info) {
  constexpr int kTrapPerf = 6;
  constexpr uint64_t kCookie = 0x70726f66;
  if (info.si_signo == SIGTRAP && info.si_code == kTrapPerf) return true;
  return info.si_code == SI_TIMER && reinterpret_cast<uintptr_t>(info.si_value.sival_ptr) >> 32 == kCookie;
}

// The pending signals that a stopped thread does not block.
struct WaitingSignals {
  bool samples = false;  // prof's
  bool others = false;   // the program's
};

WaitingSignals waiting_signals(int tid, uint64_t blocked) {
  WaitingSignals found;
  uint64_t left = status_mask(tid, "SigPnd") & ~blocked;
  found.others = (status_mask(tid, "ShdPnd") & ~blocked) != 0;
  siginfo_t info{};
  for (__ptrace_peeksiginfo_args at{0, 0, 1}; left && ptrace(PTRACE_PEEKSIGINFO, tid, &at, &info) == 1;
       ++at.off) {
    const uint64_t bit = uint64_t{1} << (info.si_signo - 1);
    if (blocked & bit) continue;
    (is_sample(info) ? found.samples : found.others) = true;
    left &= ~bit;
  }
  found.others |= left != 0;  // the kernel had no room for the signal's data
  return found;
}

}  // namespace

bool is_wait(const user_regs_struct& registers) {
  return contains(kWaits, static_cast<long>(registers.orig_rax)) || is_wait_for_others(registers);
}

bool may_be_interrupted(int tid) {
  std::ifstream file(fmt::format("/proc/{}/syscall", tid));
  std::string where;
  file >> where;
  if (where.empty() || where == "running" || where == "-1") return true;
  user_regs_struct registers{};
  registers.orig_rax = std::strtoull(where.c_str(), nullptr, 10);
  std::string argument;
  file >> argument >> argument;
  registers.rsi = std::strtoull(argument.c_str(), nullptr, 16);
  return is_wait(registers);
}

bool is_call_to_be_made(int tid, const user_regs_struct& interrupted, uint64_t mask, bool is_stopped) {
  constexpr long kRestarts[] = {-512, -513, -514, -516};  // ERESTARTSYS and so on (linux/errno.h)
  const auto number = static_cast<long>(interrupted.orig_rax), result = static_cast<long>(interrupted.rax);
  if (number < 0) return false;
  const bool is_restarted = contains(kRestarts, result);
  if (is_restarted && !is_stopped) return true;
  if (!is_restarted && !(result == -EINTR && contains(kRepeatable, number))) return false;
  const WaitingSignals signals = waiting_signals(tid, mask);
  return !signals.others && (signals.samples || !is_restarted);
}

std::optional<user_regs_struct> with_call_made_anew(int tid, const user_regs_struct& interrupted) {
  user_regs_struct anew = interrupted;
  anew.rip -= 2;  // `syscall`
  anew.rax = anew.orig_rax;
  anew.orig_rax = ~uint64_t{0};
  if (anew.rax != SYS_restart_syscall) return anew;
  const std::optional<long> call = restarted_call(tid, anew.rip);
  if (!call) return std::nullopt;
  anew.rax = static_cast<uint64_t>(*call);
  return anew;
}

}  // namespace prof

#include "prof/tracee.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

#include "prof/message.h"

namespace prof {

namespace {

// A running thread stops as its next interrupt comes, a waiting one at once.
constexpr std::chrono::milliseconds kStopTimeout{500};
constexpr int kSystemCallStop = SIGTRAP | 0x80;  // PTRACE_O_TRACESYSGOOD

// Calls in which threads wait for things outside of the process: who waits there holds no lock of malloc's or
// of the loader's.
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
    // A wait of those with a timeout, after a stop or a signal that the program ignores.
    SYS_restart_syscall,
};

// Of these the ones that return EINTR when their thread is stopped (signal(7)), having done nothing.
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

// Waits for condition variables, semaphores and ends of threads; locks wait by FUTEX_WAIT.
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

// As far as the kernel tells where the thread is.
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
  return contains(kWaits, static_cast<long>(registers.orig_rax)) || is_wait_for_others(registers);
}

bool has_signal_to_handle(int tid, uint64_t blocked) {
  return ((status_mask(tid, "SigPnd") | status_mask(tid, "ShdPnd")) & ~blocked) != 0;
}

}  // namespace

std::optional<Tracee> Tracee::stop_if_repeatable(int tid) {
  if (!may_be_interrupted(tid)) return std::nullopt;
  if (ptrace(PTRACE_SEIZE, tid, nullptr, PTRACE_O_TRACESYSGOOD) != 0) {
    if (errno != EPERM) return std::nullopt;
    std::ifstream yama("/proc/sys/kernel/yama/ptrace_scope");
    int scope = 0;
    yama >> scope;
    if (scope > 0)
      fail(kOwnFailure,
           "the kernel forbids to trace process {} (kernel.yama.ptrace_scope is {}); attach as root, start "
           "the program "
           "with `prof run`, or `sysctl kernel.yama.ptrace_scope=0`",
           tid, scope);
    fail(kOwnFailure,
         "the kernel forbids to trace process {}: it is being traced already, has raised privileges, or a "
         "seccomp "
         "profile refuses ptrace; attach as root outside of the container, or start it with `prof run`",
         tid);
  }
  Tracee tracee(tid);
  if (ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0) {
    tracee.lost_ = true;
    return std::nullopt;
  }
  const auto end = std::chrono::steady_clock::now() + kStopTimeout;
  for (;;) {
    int status = 0;
    const pid_t stopped = waitpid(tid, &status, __WALL | WNOHANG);
    if (stopped < 0 || (stopped == tid && !WIFSTOPPED(status))) {
      tracee.lost_ = true;
      return std::nullopt;
    }
    if (stopped == tid && status >> 16 == PTRACE_EVENT_STOP) return tracee;
    // A signal on its way is the program's.
    if (stopped == tid) ptrace(PTRACE_CONT, tid, nullptr, WSTOPSIG(status));
    // A thread that does not stop (in a vfork) would be held up here: it has to be waited for, and stops once
    // it can.
    if (std::chrono::steady_clock::now() > end && stopped == 0) {
      tracee.lost_ = waitpid(tid, &status, __WALL) < 0 || !WIFSTOPPED(status);
      return std::nullopt;
    }
    std::this_thread::yield();
  }
}

Tracee::Tracee(Tracee&& other) noexcept
    : tid_(std::exchange(other.tid_, 0)),
      saved_(other.saved_),
      lost_(other.lost_),
      interrupted_(other.interrupted_),
      vector_registers_(std::move(other.vector_registers_)),
      mask_(other.mask_) {}

Tracee::~Tracee() {
  if (tid_ == 0 || lost_) return;
  if (saved_) restore();
  if (!saved_) {
    // Stopped, and nothing was done: only the interrupted call is looked after.
    save();
    restore();
  }
  ptrace(PTRACE_DETACH, tid_, nullptr, nullptr);
}

user_regs_struct Tracee::registers() const {
  user_regs_struct registers{};
  ptrace(PTRACE_GETREGS, tid_, nullptr, &registers);
  return registers;
}

void Tracee::set_registers(const user_regs_struct& registers) const {
  ptrace(PTRACE_SETREGS, tid_, nullptr, &registers);
}

bool Tracee::is_at_safe_place(const TargetProcess& target) const {
  const user_regs_struct now = registers();
  const auto is_in = [&](const CodeRange& range) { return now.rip >= range.low && now.rip < range.high; };
  if (is_in(target.loader)) return false;
  const bool in_call = static_cast<long>(now.orig_rax) >= 0;
  if (in_call && !contains(kWaits, static_cast<long>(now.orig_rax)) && !is_wait_for_others(now)) return false;
  if (!in_call && std::ranges::any_of(target.delicate_code, is_in)) return false;
  // A signal handler may have interrupted what holds a lock: it would return through these words.
  constexpr size_t kWords = 8192;
  std::array<uint64_t, kWords> stack{};
  const iovec local{stack.data(), sizeof stack};
  const iovec remote{reinterpret_cast<void*>(now.rsp), sizeof stack};
  const ssize_t got = process_vm_readv(tid_, &local, 1, &remote, 1, 0);
  const size_t words = got > 0 ? static_cast<size_t>(got) / sizeof(uint64_t) : 0;
  return target.signal_return == 0 ||
         std::find(stack.begin(), stack.begin() + words, target.signal_return) == stack.begin() + words;
}

void Tracee::save() {
  saved_ = true;
  interrupted_ = registers();
  vector_registers_.resize(64 * 1024);
  iovec area{vector_registers_.data(), vector_registers_.size()};
  ptrace(PTRACE_GETREGSET, tid_, NT_X86_XSTATE, &area);
  vector_registers_.resize(area.iov_len);
  ptrace(PTRACE_GETSIGMASK, tid_, sizeof mask_, &mask_);
  const uint64_t all = ~uint64_t{0};
  ptrace(PTRACE_SETSIGMASK, tid_, sizeof all, &all);
}

void Tracee::restore() {
  // Into a stop from which the kernel restarts what it had interrupted.
  const bool moved = registers().rip != interrupted_.rip || registers().rsp != interrupted_.rsp;
  if (moved) {
    int status = 0;
    ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr);
    ptrace(PTRACE_CONT, tid_, nullptr, nullptr);
    do {
      if (waitpid(tid_, &status, __WALL) < 0 || !WIFSTOPPED(status)) {
        lost_ = true;
        return;
      }
      if (status >> 16 != PTRACE_EVENT_STOP) ptrace(PTRACE_CONT, tid_, nullptr, nullptr);
    } while (status >> 16 != PTRACE_EVENT_STOP);
  }
  user_regs_struct back = interrupted_;
  const bool repeats = static_cast<long>(back.rax) == -EINTR &&
                       contains(kRepeatable, static_cast<long>(back.orig_rax)) &&
                       !has_signal_to_handle(tid_, mask_);
  if (repeats) {
    back.rip -= 2;  // `syscall`
    back.rax = back.orig_rax;
    back.orig_rax = ~uint64_t{0};
  }
  set_registers(back);
  iovec area{vector_registers_.data(), vector_registers_.size()};
  ptrace(PTRACE_SETREGSET, tid_, NT_X86_XSTATE, &area);
  ptrace(PTRACE_SETSIGMASK, tid_, sizeof mask_, &mask_);
}

void Tracee::resume_until_system_call() {
  for (;;) {
    int status = 0;
    if (ptrace(PTRACE_SYSCALL, tid_, nullptr, nullptr) != 0 || waitpid(tid_, &status, __WALL) < 0 ||
        !WIFSTOPPED(status)) {
      lost_ = true;
      fail(kOwnFailure, "the process ended while prof was attaching to it");
    }
    if (WSTOPSIG(status) == kSystemCallStop) return;
  }
}

namespace {

void set_arguments(user_regs_struct& registers, std::initializer_list<uint64_t> arguments,
                   bool is_system_call) {
  const std::array<unsigned long long*, 6> places = {
      &registers.rdi, &registers.rsi, &registers.rdx, is_system_call ? &registers.r10 : &registers.rcx,
      &registers.r8,  &registers.r9};
  size_t i = 0;
  for (const uint64_t argument : arguments) *places.at(i++) = argument;
}

}  // namespace

long Tracee::system_call(uint64_t instruction, long number, std::initializer_list<uint64_t> arguments) {
  if (!saved_) save();
  user_regs_struct call = interrupted_;
  call.rip = instruction;
  call.rax = static_cast<uint64_t>(number);
  call.orig_rax = ~uint64_t{0};
  set_arguments(call, arguments, true);
  set_registers(call);
  resume_until_system_call();  // its beginning
  resume_until_system_call();  // its end
  return static_cast<long>(registers().rax);
}

uint64_t Tracee::call(uint64_t function, std::initializer_list<uint64_t> arguments, uint64_t stack,
                      uint64_t back) {
  if (!saved_) save();
  user_regs_struct call = interrupted_;
  call.rsp = stack / 16 * 16 - 8;  // as after a call instruction
  const iovec local{&back, sizeof back};
  const iovec remote{reinterpret_cast<void*>(call.rsp), sizeof back};
  if (process_vm_writev(tid_, &local, 1, &remote, 1, 0) != sizeof back)
    fail(kOwnFailure, "cannot write to the memory of thread {}: {}", tid_, std::strerror(errno));
  call.rip = function;
  call.rax = 0;
  call.orig_rax = ~uint64_t{0};
  set_arguments(call, arguments, false);
  set_registers(call);
  for (;;) {
    resume_until_system_call();
    const user_regs_struct now = registers();
    // The call of ours keeps the function's result in a register that it does not use.
    const bool is_back = now.rip > back && now.rip <= back + 16;
    resume_until_system_call();
    if (is_back) return now.rbx;
  }
}

}  // namespace prof

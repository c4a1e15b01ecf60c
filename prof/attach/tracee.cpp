#include "prof/attach/tracee.h"

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

#include "prof/attach/interrupted_call.h"
#include "prof/attach/return_frame.h"
#include "prof/base/message.h"

namespace prof {

namespace {

// A running thread stops at its next interrupt, a waiting one at once.
constexpr std::chrono::milliseconds kStopTimeout{500};
constexpr int kSystemCallStop = SIGTRAP | 0x80;  // PTRACE_O_TRACESYSGOOD

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
           "the kernel forbids tracing process {} (kernel.yama.ptrace_scope is {}); run prof as root, start "
           "the program with `prof run`, or set `sysctl kernel.yama.ptrace_scope=0`",
           tid, scope);
    fail(kOwnFailure,
         "the kernel forbids tracing process {}: it is traced already, has raised privileges, or a seccomp "
         "profile refuses ptrace; run prof as root outside the container, or start the program with `prof "
         "run`",
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
    // Any other signal is the program's.
    if (stopped == tid) ptrace(PTRACE_CONT, tid, nullptr, WSTOPSIG(status));
    // A thread that does not stop (in a vfork) would stay stopped here later. It has to be waited for, and
    // stops once it can.
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
      frame_(other.frame_),
      vector_registers_(std::move(other.vector_registers_)),
      mask_(other.mask_) {}

Tracee::~Tracee() {
  if (tid_ == 0 || lost_) return;
  if (saved_) {
    restore();
  } else {
    // The thread was stopped, but ran nothing: only its interrupted call needs restoring.
    interrupted_ = registers();
    ptrace(PTRACE_GETSIGMASK, tid_, sizeof mask_, &mask_);
    set_registers(going_on());
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

bool Tracee::is_at_safe_place(const TargetProcess& target, OwnCode own_code) const {
  const user_regs_struct now = registers();
  const auto is_in = [&](const CodeRange& range) { return now.rip >= range.low && now.rip < range.high; };
  if (is_in(target.loader)) return false;
  const bool in_call = static_cast<long>(now.orig_rax) >= 0;
  if (in_call && !is_wait(now)) return false;
  if (!in_call && std::ranges::any_of(target.delicate_code, is_in)) return false;
  const bool is_in_own_allocator = !in_call && std::ranges::any_of(target.own_allocator, is_in);
  if (is_in_own_allocator && own_code == OwnCode::Avoided) return false;
  // A signal handler may have interrupted code that holds a lock. It would return through these words.
  constexpr size_t kWords = 8192;
  std::array<uint64_t, kWords> stack{};
  const iovec local{stack.data(), sizeof stack};
  const iovec remote{reinterpret_cast<void*>(now.rsp), sizeof stack};
  const ssize_t got = process_vm_readv(tid_, &local, 1, &remote, 1, 0);
  const size_t words = got > 0 ? static_cast<size_t>(got) / sizeof(uint64_t) : 0;
  if (is_in_own_allocator &&
      (words == 0 || target.allocator_calls.is_within(tid_, now.rip, {stack.data(), words})))
    return false;
  return target.signal_return == 0 ||
         std::find(stack.begin(), stack.begin() + words, target.signal_return) == stack.begin() + words;
}

user_regs_struct Tracee::going_on() const {
  if (!is_call_to_be_made(tid_, interrupted_, mask_, true)) return interrupted_;
  return with_call_made_anew(tid_, interrupted_).value_or(interrupted_);
}

bool Tracee::prepare(const TargetProcess& target) {
  interrupted_ = registers();
  vector_registers_.resize(64 * 1024);
  iovec area{vector_registers_.data(), vector_registers_.size()};
  ptrace(PTRACE_GETREGSET, tid_, NT_X86_XSTATE, &area);
  vector_registers_.resize(area.iov_len);
  ptrace(PTRACE_GETSIGMASK, tid_, sizeof mask_, &mask_);
  std::optional<user_regs_struct> back = interrupted_;
  if (is_call_to_be_made(tid_, interrupted_, mask_, false)) back = with_call_made_anew(tid_, interrupted_);
  if (!back) return false;
  const ReturnFrame frame = make_return_frame({*back, vector_registers_, mask_}, target.signal_return);
  const iovec local{const_cast<char*>(frame.bytes.data()), frame.bytes.size()};
  const iovec remote{reinterpret_cast<void*>(frame.at), frame.bytes.size()};
  frame_ = frame.at;
  return process_vm_writev(tid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(frame.bytes.size());
}

// Signals stay blocked only while the thread can return by itself, with its own mask.
void Tracee::start_at(user_regs_struct& registers) {
  set_registers(registers);
  if (saved_) return;
  saved_ = true;
  const uint64_t all = ~uint64_t{0};
  ptrace(PTRACE_SETSIGMASK, tid_, sizeof all, &all);
}

void Tracee::restore() {
  // Brings the thread into a stop from which the kernel restarts the call that was interrupted.
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
  // The general registers are set last: until then the thread can return by itself.
  iovec area{vector_registers_.data(), vector_registers_.size()};
  ptrace(PTRACE_SETREGSET, tid_, NT_X86_XSTATE, &area);
  const user_regs_struct back = going_on();
  ptrace(PTRACE_SETSIGMASK, tid_, sizeof mask_, &mask_);
  set_registers(back);
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
  user_regs_struct call = interrupted_;
  call.rip = instruction;
  call.rsp = frame_;
  call.rax = static_cast<uint64_t>(number);
  call.orig_rax = ~uint64_t{0};
  set_arguments(call, arguments, true);
  start_at(call);
  resume_until_system_call();  // its start
  resume_until_system_call();  // its end
  return static_cast<long>(registers().rax);
}

uint64_t Tracee::call(uint64_t function, std::initializer_list<uint64_t> arguments, uint64_t stack,
                      uint64_t back) {
  user_regs_struct call = interrupted_;
  call.r12 = frame_;
  call.rsp = stack / 16 * 16 - 8;  // as after a call instruction
  const iovec local{&back, sizeof back};
  const iovec remote{reinterpret_cast<void*>(call.rsp), sizeof back};
  if (process_vm_writev(tid_, &local, 1, &remote, 1, 0) != sizeof back)
    fail(kOwnFailure, "cannot write to the memory of thread {}: {}", tid_, std::strerror(errno));
  call.rip = function;
  call.rax = 0;
  call.orig_rax = ~uint64_t{0};
  set_arguments(call, arguments, false);
  start_at(call);
  for (;;) {
    resume_until_system_call();
    const user_regs_struct now = registers();
    // Our call keeps the function's result in a register that it does not use itself.
    const bool is_back = now.rip > back && now.rip <= back + 16;
    resume_until_system_call();
    if (is_back) return now.rbx;
  }
}

}  // namespace prof

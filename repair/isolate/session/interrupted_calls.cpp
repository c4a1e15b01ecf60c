#include "repair/isolate/session/interrupted_calls.h"

#include <errno.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>

#include "hpcrun/guest/safe_load.h"
#include "repair/isolate/session/call_table.h"
#include "repair/isolate/session/switch.h"
#include "repair/isolate/session/tasks.h"
#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

thread_local constinit TimedWait timed_wait __attribute__((tls_model("initial-exec")));

namespace {

constinit TaskCall calls[kMaxThreads];
constinit std::atomic<uint32_t> call_count{0};

// Calls that end by any handler, without effect.
constexpr long kEndedByHandlers[] = {
    SYS_pause,        SYS_rt_sigsuspend,   SYS_rt_sigtimedwait, SYS_poll,        SYS_ppoll,
    SYS_select,       SYS_pselect6,        SYS_epoll_wait,      SYS_epoll_pwait, SYS_epoll_pwait2,
    SYS_nanosleep,    SYS_clock_nanosleep, SYS_futex,           SYS_msgsnd,      SYS_msgrcv,
    SYS_semop,        SYS_semtimedop,      SYS_io_getevents,    SYS_accept,      SYS_accept4,
    SYS_recvfrom,     SYS_recvmsg,         SYS_recvmmsg,        SYS_read,        SYS_readv,
    SYS_mq_timedsend, SYS_mq_timedreceive};

bool is_of(const TaskCall& call, const ucontext_t& context) noexcept {
  const auto& registers = context.uc_mcontext.gregs;
  constexpr int kArguments[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
  for (int i = 0; i < 6; ++i)
    if (static_cast<uint64_t>(registers[kArguments[i]]) != call.arguments[i]) return false;
  return static_cast<uint64_t>(registers[REG_RIP]) == call.pc &&
         static_cast<uint64_t>(registers[REG_RSP]) == call.stack;
}

bool is_ended_by_handlers(long number) noexcept {
  return std::ranges::find(kEndedByHandlers, number) != std::end(kEndedByHandlers);
}

// Returns the number of a call that the thread began after it was noted. The C library's functions move it to
// %eax before the call. Returns -1 if the code does not.
long number_before(uint64_t pc) noexcept {
  constexpr uint64_t kMoveBytes = 5;  // mov $number, %eax
  uint64_t code;
  if (!safe_load_word(pc - kCallBytes - kMoveBytes, code)) return -1;
  constexpr uint64_t kMove = 0xb8, kCall = 0x050f;
  if ((code & 0xff) != kMove || (code >> 8 * kMoveBytes & 0xffff) != kCall) return -1;
  return static_cast<long>(code >> 8 & UINT32_MAX);
}

}  // namespace

uint64_t waits_since_ns(uint64_t stack) noexcept {
  constexpr uint64_t kMaxBetween = 1024;  // bytes of its frames and the interposing function's
  return timed_wait.frame - stack < kMaxBetween ? timed_wait.since_ns : 0;
}

void clear_interrupted_calls() noexcept {
  call_count.store(0);
}

void note_call_of(int tid) noexcept {
  const uint32_t number = call_count.load();
  if (number == kMaxThreads || !read_call_of(tid, calls[number])) return;
  if (is_ended_by_handlers(calls[number].number)) call_count.store(number + 1);
}

bool begin_call_again(ucontext_t& context) noexcept {
  auto& registers = context.uc_mcontext.gregs;
  if (registers[REG_RAX] != -EINTR) return false;
  // A call that was dispatched in the previous session: its handler restarts it.
  if (registers[REG_RIP] == reinterpret_cast<greg_t>(hpcrun_passed_call_end)) return false;
  long number = number_before(static_cast<uint64_t>(registers[REG_RIP]));
  const int tid = sys_gettid();
  for (uint32_t i = 0; i < call_count.load(); ++i)
    if (calls[i].tid == tid && is_of(calls[i], context)) number = calls[i].number;
  if (!is_ended_by_handlers(number)) return false;
  registers[REG_RIP] -= kCallBytes;
  registers[REG_RAX] = number;
  if (ThreadRecord* const record = this_record()) {
    record->begun_again_pc = static_cast<uint64_t>(registers[REG_RIP]);
    record->begun_again_stack = static_cast<uint64_t>(registers[REG_RSP]);
  }
  return true;
}

void end_call_begun_again(ThreadRecord& record, ucontext_t& context) noexcept {
  auto& registers = context.uc_mcontext.gregs;
  if (!record.begun_again_pc || static_cast<uint64_t>(registers[REG_RIP]) != record.begun_again_pc ||
      static_cast<uint64_t>(registers[REG_RSP]) != record.begun_again_stack)
    return;
  record.begun_again_pc = 0;
  registers[REG_RIP] += kCallBytes;
  registers[REG_RAX] = -EINTR;
}

}  // namespace hpcrun

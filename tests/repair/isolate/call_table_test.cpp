#include "repair/isolate/session/call_table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <catch2/catch.hpp>
#include <vector>

#include "repair/isolate/session/futex_calls.h"
#include "repair/isolate/session/interrupted_calls.h"

using namespace hpcrun;

namespace {

EndsByHandler ends(long number, long second = 0, long third = 0, long fourth = 0) {
  const long arguments[6] = {0, second, third, fourth, 0, 0};
  return ends_by_handler(number, arguments);
}

// Returns a handler's context of a thread at this instruction.
ucontext_t context_at(uint64_t pc, uint64_t stack) {
  ucontext_t context{};
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(stack);
  context.uc_mcontext.gregs[REG_RAX] = SYS_pause;
  return context;
}

std::vector<uint64_t> futexes_of(long number, const long (&arguments)[6]) {
  static std::vector<uint64_t> found;
  found.clear();
  SystemCall call;
  call.number = number;
  std::copy(arguments, arguments + 6, call.arguments);
  for_each_futex(call, [](uint64_t address) { found.push_back(address); });
  return found;
}

}  // namespace

TEST_CASE("The words of a futex call are those of its list, where it has one") {
  constexpr long kWaitv = 449, kWake = 454, kWait = 455, kRequeue = 456;
  using Words = std::vector<uint64_t>;
  const FutexWaiter list[] = {{1, 0x1000, 2, 0}, {2, 0x2008, 2, 0}, {3, 0x3010, 2, 0}};
  const long at = reinterpret_cast<long>(list);
  CHECK(futexes_of(kWaitv, {at, 3, 0, 0, 0x9000, 0}) == Words{0x1000, 0x2008, 0x3010});
  CHECK(futexes_of(kRequeue, {at, 0, 1, 1, 0x9000, 0}) == Words{0x1000, 0x2008});
  CHECK(futexes_of(kWait, {0x1000, 1, -1, 2, 0x9000, 0}) == Words{0x1000});
  CHECK(futexes_of(kWake, {0x1000, -1, 1, 2, 0, 0}) == Words{0x1000});
  CHECK(futexes_of(SYS_futex, {0x1000, FUTEX_WAKE_OP, 1, 1, 0x2000, 0}) == Words{0x1000, 0x2000});
  CHECK(futexes_of(kWaitv, {at, 129, 0, 0, 0, 0}).empty());  // refused by the kernel
  CHECK(futexes_of(kWaitv, {8, 3, 0, 0, 0, 0}).empty());     // likewise
}

TEST_CASE("handlers end no call that does not wait") {
  for (const int operation :
       {FUTEX_WAKE, FUTEX_WAKE_PRIVATE, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE_PRIVATE, FUTEX_WAKE_OP})
    CHECK(ends(SYS_futex, operation, 1, 0x7fff) == EndsByHandler::Never);
  for (const long number :
       {SYS_mmap, SYS_munmap, SYS_brk, SYS_mprotect, SYS_clone, SYS_close, SYS_rt_sigprocmask})
    CHECK(ends(number) == EndsByHandler::Never);
  CHECK(ends(SYS_fcntl, F_GETFD) == EndsByHandler::Never);
}

TEST_CASE("handlers end calls that wait, some of them only without SA_RESTART") {
  CHECK(ends(SYS_futex, FUTEX_WAIT_PRIVATE) == EndsByHandler::Unrestarted);
  CHECK(ends(SYS_futex, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 0, 0x7fff) ==
        EndsByHandler::Always);
  for (const long number : {SYS_read, SYS_write, SYS_accept, SYS_wait4})
    CHECK(ends(number) == EndsByHandler::Unrestarted);
  for (const long number : {SYS_pause, SYS_poll, SYS_nanosleep, SYS_rt_sigsuspend, SYS_epoll_wait})
    CHECK(ends(number) == EndsByHandler::Always);
  CHECK(ends(SYS_fcntl, F_SETLKW) == EndsByHandler::Unrestarted);
}

TEST_CASE("a handler ends the call that was begun again, once") {
  ThreadRecord record;
  record.begun_again_pc = 0x1000;
  record.begun_again_stack = 0x2000;
  ucontext_t elsewhere = context_at(0x1000, 0x1f00);
  end_call_begun_again(record, elsewhere);
  CHECK(elsewhere.uc_mcontext.gregs[REG_RIP] == 0x1000);

  ucontext_t there = context_at(0x1000, 0x2000);
  end_call_begun_again(record, there);
  CHECK(there.uc_mcontext.gregs[REG_RIP] == 0x1000 + kCallBytes);
  CHECK(there.uc_mcontext.gregs[REG_RAX] == -EINTR);

  ucontext_t again = context_at(0x1000, 0x2000);
  end_call_begun_again(record, again);
  CHECK(again.uc_mcontext.gregs[REG_RIP] == 0x1000);
}

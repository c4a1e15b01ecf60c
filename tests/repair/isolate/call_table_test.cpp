#include "repair/isolate/call_table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <catch2/catch.hpp>

#include "repair/isolate/interrupted_calls.h"

using namespace hpcrun;

namespace {

EndsByHandler ends(long number, long second = 0, long third = 0, long fourth = 0) {
  const long arguments[6] = {0, second, third, fourth, 0, 0};
  return ends_by_handler(number, arguments);
}

// As a handler's frame has it of a thread at this instruction.
ucontext_t context_at(uint64_t pc, uint64_t stack) {
  ucontext_t context{};
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(stack);
  context.uc_mcontext.gregs[REG_RAX] = SYS_pause;
  return context;
}

}  // namespace

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

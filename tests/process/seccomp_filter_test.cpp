// Answers of seccomp filters, as the kernel computes them (Documentation/networking/filter.rst).

#include "hpcrun/process/seccomp_filter.h"

#include <linux/audit.h>
#include <sys/syscall.h>

#include <catch2/catch.hpp>
#include <vector>

using hpcrun::bears_measuring;
using hpcrun::filter_answer;

namespace {

using Filter = std::vector<sock_filter>;

constexpr uint32_t kNumber = offsetof(seccomp_data, nr);
constexpr uint32_t kArchitecture = offsetof(seccomp_data, arch);
constexpr uint32_t kFirstArgument = offsetof(seccomp_data, args);

sock_filter load(uint32_t at) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at);
}
sock_filter answer(uint32_t value) {
  return BPF_STMT(BPF_RET | BPF_K, value);
}

uint32_t answer_to(const Filter& filter, int number, uint64_t argument = 0) {
  seccomp_data call{};
  call.nr = number;
  call.arch = AUDIT_ARCH_X86_64;
  call.args[0] = argument;
  return filter_answer(filter.data(), filter.size(), call);
}

// A filter with one answer for one call, and another answer for all others.
Filter filter_of(uint32_t number, uint32_t its_answer, uint32_t of_others) {
  return {load(kNumber), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), answer(its_answer),
          answer(of_others)};
}

bool bears(const Filter& filter) {
  return bears_measuring(filter.data(), filter.size());
}

}  // namespace

TEST_CASE("a filter answers by number, architecture and argument") {
  const Filter filter = {
      load(kArchitecture),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      answer(SECCOMP_RET_KILL_PROCESS),
      load(kNumber),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 300, 3, 0),
      load(kFirstArgument),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 4, 0, 1),
      answer(SECCOMP_RET_TRAP),
      answer(SECCOMP_RET_ALLOW),
  };
  CHECK(answer_to(filter, 301) == SECCOMP_RET_ALLOW);
  CHECK(answer_to(filter, 300, 6) == SECCOMP_RET_TRAP);
  CHECK(answer_to(filter, 300, 3) == SECCOMP_RET_ALLOW);
  seccomp_data foreign{};
  CHECK(filter_answer(filter.data(), filter.size(), foreign) == SECCOMP_RET_KILL_PROCESS);
}

TEST_CASE("a filter computes, keeps words and jumps") {
  const Filter filter = {
      load(kNumber),
      BPF_STMT(BPF_ST, 3),
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),  // twice the number
      BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 4),  // 32 times
      BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 3),
      BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0),  // 31 times
      BPF_STMT(BPF_JMP | BPF_JA, 1),
      answer(1),
      BPF_STMT(BPF_RET | BPF_A, 0),
  };
  CHECK(answer_to(filter, 7) == 217);
}

TEST_CASE("filters that the kernel would not take end the process") {
  CHECK(answer_to({load(kNumber)}, 1) == SECCOMP_RET_KILL_PROCESS);
  CHECK(answer_to({load(sizeof(seccomp_data)), answer(0)}, 1) == SECCOMP_RET_KILL_PROCESS);
  CHECK(answer_to({BPF_STMT(BPF_LD | BPF_MEM, BPF_MEMWORDS), answer(0)}, 1) == SECCOMP_RET_KILL_PROCESS);
  CHECK(answer_to({}, 1) == SECCOMP_RET_KILL_PROCESS);
}

TEST_CASE("filters that allow or refuse bear measuring, those that trap or kill do not") {
  CHECK(bears({answer(SECCOMP_RET_ALLOW)}));
  CHECK(bears({answer(SECCOMP_RET_LOG)}));
  CHECK(bears({answer(SECCOMP_RET_ERRNO | 1)}));
  CHECK(bears(filter_of(SYS_mount, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW)));
  CHECK_FALSE(bears(filter_of(SYS_gettid, SECCOMP_RET_TRAP, SECCOMP_RET_ALLOW)));
  CHECK_FALSE(bears(filter_of(SYS_timer_settime, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_ALLOW)));
  CHECK_FALSE(bears(filter_of(SYS_openat, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_ALLOW)));
  CHECK_FALSE(bears(filter_of(SYS_write, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS)));
}

// hpcrun-exec SOCKET QUESTION PROGRAM [ARGUMENT]...: requests `prof` to sample this process from outside, and
// executes the program, whose arguments begin with its name. A process started by posix_spawn runs no code of
// the runtime before its program, so the runtime has it start this one first. Uses no C library, so that
// nothing is preloaded into it and it adds little to a program's start.

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/process/outside_question.h"

using namespace hpcrun;

namespace {

constexpr int kNotFound = 127;  // the exit status of posix_spawn's own child
constexpr int kOwnArguments = 4;

}  // namespace

// Compilers generate calls of it for assignments.
extern "C" void* memset(void* to, int value, size_t bytes) noexcept {
  for (size_t i = 0; i < bytes; ++i) static_cast<volatile char*>(to)[i] = static_cast<char>(value);
  return to;
}

extern "C" void* memcpy(void* to, const void* from, size_t bytes) noexcept {
  for (size_t i = 0; i < bytes; ++i) static_cast<volatile char*>(to)[i] = static_cast<const char*>(from)[i];
  return to;
}

// The stack as the kernel sets it up: the number of arguments, the arguments, a null pointer, the
// environment.
extern "C" [[noreturn]] __attribute__((used)) void hpcrun_exec(const long* stack) noexcept {
  const long count = stack[0];
  const auto* const arguments = reinterpret_cast<const char* const*>(stack + 1);
  const auto* const environment = arguments + count + 1;
  if (count >= kOwnArguments) {
    ask_outside(outside_address(arguments[1]), arguments[2][0]);
    raw_syscall(SYS_execve, reinterpret_cast<long>(arguments[3]),
                reinterpret_cast<long>(arguments + kOwnArguments), reinterpret_cast<long>(environment));
  }
  for (;;) raw_syscall(SYS_exit_group, kNotFound);
}

asm(".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  .cfi_startproc\n"
    "  .cfi_undefined rip\n"
    "  xor %ebp, %ebp\n"
    "  mov %rsp, %rdi\n"
    "  and $-16, %rsp\n"
    "  call hpcrun_exec\n"
    "  .cfi_endproc\n"
    ".size _start, . - _start\n");

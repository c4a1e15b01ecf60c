// Works at the end of a deep stack: deep_stacks native|generated DEPTH SECONDS. Generated code keeps frame
// pointers and has no unwind tables. deep_stacks overflows TIMES recurses until the stack is exhausted.
// Prints the CPU time of the work on standard error.

#include <setjmp.h>
#include <sys/mman.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "spin.h"

namespace {

double seconds = 0;

void work() {
  spin(seconds);
}

[[gnu::noinline]] void recurse(long depth) {
  volatile char room[64];
  room[0] = static_cast<char>(depth);
  if (depth == 0)
    work();
  else
    recurse(depth - 1);
  room[1] = room[0];
}

// push %rbp; mov %rsp,%rbp; dec %rdi; jz 1f; call itself; pop %rbp; ret; 1: call *%rsi; pop %rbp; ret
constexpr unsigned char kCode[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x74, 0x07, 0xe8,
                                   0xf2, 0xff, 0xff, 0xff, 0x5d, 0xc3, 0xff, 0xd6, 0x5d, 0xc3};

void recurse_in_generated_code(long depth) {
  void* const code = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, kCode, sizeof kCode);
  mprotect(code, 4096, PROT_READ | PROT_EXEC);
  reinterpret_cast<void (*)(long, void (*)())>(code)(depth, work);
}

sigjmp_buf back;

void leave(int) {
  siglongjmp(back, 1);
}

[[gnu::noinline]] long exhaust(long depth) {
  volatile char room[200];
  room[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : exhaust(depth + 1) + room[0];
}

int overflow(int times) {
  static char handler_stack[64 * 1024];
  const stack_t stack{handler_stack, 0, sizeof handler_stack};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = leave;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  volatile int overflows = 0;
  while (overflows < times) {
    if (sigsetjmp(back, 1) == 0) exhaust(0);
    overflows = overflows + 1;
  }
  printf("overflows %d\n", overflows);
  return 7;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "overflows") == 0) return overflow(atoi(argv[2]));
  if (argc != 4) return 2;
  const long depth = atol(argv[2]);
  seconds = atof(argv[3]);
  const double begin = thread_cpu_seconds();
  if (strcmp(argv[1], "native") == 0)
    recurse(depth);
  else
    recurse_in_generated_code(depth);
  fprintf(stderr, "worked %.6f\n", thread_cpu_seconds() - begin);
  return 0;
}

// Loads and stores of known sizes, each by one instruction of a function that is named after it. The first
// argument is the case. Linked at a fixed address, so that a test finds functions by their symbols.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pthread.h>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define ACCESS(name, instruction)                                                                           \
  extern "C" __attribute__((noinline, noipa)) void name(void* at) {                                         \
    __asm__ volatile(instruction : : "r"(at), "r"(uint64_t{0x0102030405060708}) : "memory", "rax", "xmm0"); \
  }

ACCESS(store_1, "movb $1, (%0)")
ACCESS(store_2, "movw $1, (%0)")
ACCESS(store_4, "movl $1, (%0)")
ACCESS(store_8, "movq %1, (%0)")
ACCESS(store_16, "movups %%xmm0, (%0)")
ACCESS(other_store_1, "movb $2, (%0)")
ACCESS(other_store_2, "movw $2, (%0)")
ACCESS(other_store_4, "movl $2, (%0)")
ACCESS(other_store_8, "movq $2, (%0)")
ACCESS(other_store_16, "movups %%xmm0, (%0)")
ACCESS(same_store_8, "movq %1, (%0)")
ACCESS(same_store_4, "movl $0x05060708, (%0)")
ACCESS(load_8, "movq (%0), %%rax")
ACCESS(load_4, "movl (%0), %%eax")
ACCESS(load_1, "movb (%0), %%al")
ACCESS(add_8, "addq $1, (%0)")
ACCESS(locked_add_8, "lock addq $1, (%0)")
ACCESS(loop_1000, "movl $1000, %%eax\n1: decl %%eax\njnz 1b")

extern "C" __attribute__((naked, noinline)) void store_by_tail_call(void*) {
  __asm__("jmp store_8");
}

namespace {

alignas(4096) char memory[8192];
jmp_buf back;
sigjmp_buf signal_back;

extern "C" __attribute__((noinline, noipa)) void recurse(int depth) {
  store_8(memory);
  if (depth > 1) recurse(depth - 1);
  __asm__ volatile("");
}

extern "C" __attribute__((noinline, noipa)) void leave_by_longjmp() {
  longjmp(back, 1);
}
extern "C" __attribute__((noinline, noipa)) void leave_by_exception() {
  throw 1;
}
extern "C" __attribute__((noinline, noipa)) void leaves() {
  leave_by_longjmp();
  __asm__ volatile("");
}
extern "C" __attribute__((noinline, noipa)) void throws() {
  leave_by_exception();
  __asm__ volatile("");
}
extern "C" __attribute__((noinline, noipa)) void after_jump() {
  store_8(memory);
  other_store_8(memory);
}

extern "C" void* store_in_thread(void*) {
  store_8(memory);
  return nullptr;
}

extern "C" void on_signal(int) {
  store_4(memory);
  other_store_4(memory);
}
extern "C" void leave_signal(int) {
  siglongjmp(signal_back, 1);
}

void handle(void (*handler)(int), bool on_alternate_stack) {
  stack_t stack{};
  stack.ss_size = 65536;
  stack.ss_sp = malloc(stack.ss_size);
  if (on_alternate_stack) sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = on_alternate_stack ? SA_ONSTACK : 0;
  sigaction(SIGUSR1, &action, nullptr);
}

void sizes() {
  store_1(memory), other_store_1(memory);
  store_2(memory + 8), other_store_2(memory + 8);
  store_4(memory + 16), other_store_4(memory + 16);
  for (int i = 0; i < 100; ++i) store_8(memory + 24), other_store_8(memory + 24), load_8(memory + 24);
  store_16(memory + 4096 - 8), other_store_16(memory + 4096 - 8);
}

void partial() {
  store_8(memory), other_store_4(memory + 2);
  load_8(memory);
  store_8(memory), load_1(memory + 3), other_store_8(memory);
}

void used() {
  store_8(memory), load_8(memory), other_store_8(memory);
  load_8(memory);
  store_8(memory), add_8(memory), locked_add_8(memory), load_8(memory);
}

void system_calls() {
  const int zero = open("/dev/zero", O_RDWR);
  store_8(memory);
  if (write(zero, memory, 8) != 8) abort();
  other_store_8(memory);
  if (read(zero, memory, 8) != 8) abort();
  store_8(memory);
}

void freed() {
  void* const block = malloc(4096);
  store_8(static_cast<char*>(block) + 512);
  free(block);
  void* const again = malloc(4096);
  if (again != block) abort();
  other_store_8(static_cast<char*>(again) + 512);
  store_16(static_cast<char*>(again) + 1024), other_store_16(static_cast<char*>(again) + 1024);
  void* const mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  store_4(mapped);
  munmap(mapped, 4096);
  mmap(mapped, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  other_store_4(mapped);
}

void shared() {
  void* const mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  store_8(mapped), other_store_8(mapped);
}

void threads() {
  pthread_t thread;
  pthread_create(&thread, nullptr, store_in_thread, nullptr);
  pthread_join(thread, nullptr);
  other_store_8(memory);
}

void forks() {
  store_8(memory);
  const pid_t child = fork();
  if (child == 0) {
    other_store_8(memory);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  load_8(memory);
  other_store_16(memory);
}

void executes() {
  store_8(memory), other_store_8(memory);
  execl("/missing/program", "engine", "sizes", nullptr);
  execl(getenv("ENGINE_PROGRAM"), "engine", "sizes", nullptr);
  abort();
}

void jumps() {
  if (setjmp(back) == 0) leaves();
  after_jump();
}

void exceptions() {
  try {
    throws();
  } catch (int) {
  }
  after_jump();
}

void signals() {
  handle(on_signal, true);
  raise(SIGUSR1);
  after_jump();
}

void signal_jumps() {
  handle(leave_signal, true);
  if (sigsetjmp(signal_back, 1) == 0) raise(SIGUSR1);
  after_jump();
}

void tail_calls() {
  store_by_tail_call(memory);
  other_store_8(memory);
}

void recursion() {
  recurse(5);
}

void silent() {
  store_8(memory), same_store_8(memory), load_8(memory), same_store_8(memory);
  other_store_8(memory);
  store_8(memory + 64), same_store_4(memory + 64), other_store_4(memory + 68);
}

void redundant() {
  load_8(memory), load_8(memory), load_4(memory);
  other_store_8(memory), load_8(memory);
  store_8(memory + 64), load_8(memory + 64), same_store_8(memory + 64), load_8(memory + 64);
}

void counts() {
  loop_1000(memory);
}

constexpr struct {
  const char* name;
  void (*run)();
} kCases[] = {{"sizes", sizes},
              {"partial", partial},
              {"used", used},
              {"system_calls", system_calls},
              {"freed", freed},
              {"shared", shared},
              {"threads", threads},
              {"forks", forks},
              {"executes", executes},
              {"jumps", jumps},
              {"exceptions", exceptions},
              {"signals", signals},
              {"signal_jumps", signal_jumps},
              {"tail_calls", tail_calls},
              {"recursion", recursion},
              {"silent", silent},
              {"redundant", redundant},
              {"counts", counts}};

}  // namespace

int main(int, char** arguments) {
  for (const auto& one : kCases)
    if (std::strcmp(arguments[1], one.name) == 0) {
      one.run();
      return 7;
    }
  return 1;
}

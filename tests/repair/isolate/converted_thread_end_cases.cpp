// Cases of converted_thread_cases.cpp that end threads and processes (faults, crashes, exits, children), and
// that map and unmap memory.

#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/repair/isolate/converted_thread_case_list.h"
#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/isolated_atomics.h"
#include "tests/repair/isolate/team.h"

namespace {

// --- faults

sigjmp_buf before_fault;
volatile sig_atomic_t fault_code = 0;
void jump_out(int signal, siginfo_t* info, void*) {
  REQUIRE_THAT(!isolated_is_converted());
  fault_code = info->si_code;
  siglongjmp(before_fault, signal);
}

volatile int* volatile nowhere = nullptr;

void handled_faults() {
  isolated_start();
  struct sigaction action {};
  action.sa_sigaction = jump_out;
  action.sa_flags = SA_SIGINFO;
  for (const int signal : {SIGSEGV, SIGFPE, SIGILL, SIGTRAP}) sigaction(signal, &action, nullptr);
  for (int turn = 0; turn < 3; ++turn) {
    for (const int expected : {SIGSEGV, SIGFPE, SIGILL, SIGTRAP}) {
      const int got = sigsetjmp(before_fault, 1);
      if (!got) {
        become_converted();
        if (expected == SIGSEGV) *nowhere = 1;
        if (expected == SIGFPE)
          asm volatile("xorl %%ecx, %%ecx; movl $1, %%eax; cltd; idivl %%ecx" ::: "eax", "ecx", "edx");
        if (expected == SIGILL) asm volatile("ud2");
        if (expected == SIGTRAP) asm volatile("int3");
        REQUIRE_THAT(false);
      }
      REQUIRE_THAT(got == expected);
      if (expected == SIGSEGV) REQUIRE_THAT(fault_code == SEGV_MAPERR);
      sigset_t mask;
      pthread_sigmask(SIG_BLOCK, nullptr, &mask);
      REQUIRE_THAT(!sigismember(&mask, expected));
    }
  }
  REQUIRE_THAT(isolated_counts().given_back[3] == 12);
}

void segfault() {
  isolated_start();
  become_converted();
  *nowhere = 1;
}

// On a page that is private in each converted thread. Named for debuggers.
extern "C" {
alignas(4096) volatile uint64_t words_of_crash[512];
}

// One of three threads crashes after it wrote data that only it has; another one has private data that it
// wrote.
void crashes_with_own_page() {
  isolated_make_common();
  isolated_plan_atomics(false);
  isolated_add_page(const_cast<uint64_t*>(words_of_crash));
  words_of_crash[0] = 1;
  REQUIRE_THAT(isolated_begin() == 0);
  static std::atomic<bool> is_written{false};
  new Team(2, [](int i) {
    become_converted();
    REQUIRE_THAT(isolated_pages() == 1);
    if (i == 0) {
      words_of_crash[1] = 0x1111;
      is_written = true;
      for (;;) continue;
    }
    while (!is_written) continue;
    words_of_crash[2] = 0x5eed5eed5eed;
    REQUIRE_THAT(words_of_crash[1] == 0);  // the other thread has its own copy of the page
    *nowhere = 1;
  });
  for (;;) pause();
}

int overflow(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow(depth + 1) + frame[0];
}
void stack_overflow() {
  isolated_start();
  static char* guarded =
      static_cast<char*>(mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  (void)guarded;
  Team team(1, [](int) {
    mprotect(team_stacks[0], 4096, PROT_NONE);
    become_converted();
    overflow(0);
  });
}

void aborts() {
  isolated_start();
  become_converted();
  abort();
}

// --- ends

void exits() {
  isolated_start();
  atexit([] { dprintf(1, "at exit %d\n", isolated_is_converted()); });
  new Team(2, [](int i) {
    become_converted();
    if (i == 0)
      for (;;) continue;
    pause_ms(100);
    printf("unflushed\n");
    exit(7);
  });
  for (;;) pause();
}

void ends_at_once() {
  isolated_start();
  become_converted();
  _exit(8);
}

void main_thread_leaves() {
  isolated_start();
  new Team(1, [](int) {
    become_converted();
    pause_ms(100);
    exit(9);
  });
  become_converted();
  pthread_exit(nullptr);
}

size_t children_of_any_kind() {
  size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    count += static_cast<size_t>(std::distance(std::istream_iterator<int>(children), {}));
  }
  return count;
}

// Ended processes are reaped while the program runs, whatever its threads do.
void leaves_no_zombie() {
  isolated_start();
  Team team(2, [](int i) {
    for (int turn = 0; turn < 200; ++turn) {
      while (!isolated_convert()) sched_yield();  // the other thread's memory grows
      if (turn % 50 == 25 * i) pause_ms(1);
      isolated_give_back();
      // The thread's latest one may still exist.
      if (turn % 20 == 0) REQUIRE_THAT(children_of_any_kind() <= 4);
    }
  });
  team.join();
  for (int tries = 0; children_of_any_kind(); ++tries) {
    REQUIRE_THAT(tries < 2'000);
    pause_ms(10);
  }
  REQUIRE_THAT(isolated_counts().conversions > 200);
  REQUIRE_THAT(waitpid(-1, nullptr, __WALL) == -1 && errno == ECHILD);
}

void runs_on() {
  isolated_start();
  new Team(3, [](int i) {
    become_converted();
    if (i == 0)
      for (;;) continue;
    if (i == 1)
      for (;;) pause_ms(10);
    sem_t never;
    sem_init(&never, 0, 0);
    sem_wait(&never);
  });
  become_converted();
  while (isolated_counts().conversions < 4) sched_yield();
  printf("ready\n");
  fflush(stdout);
  for (;;) pause_ms(1000);
}

// --- children

void children() {
  isolated_start();
  become_converted();
  REQUIRE_THAT(WEXITSTATUS(system("exit 5")) == 5);
  become_converted();
  FILE* output = popen("echo from a child", "r");
  become_converted();
  char line[64] = "";
  REQUIRE_THAT(fgets(line, sizeof line, output) && !strcmp(line, "from a child\n"));
  REQUIRE_THAT(pclose(output) == 0);
  become_converted();
  sigset_t mask = only(SIGUSR1);
  sigaddset(&mask, SIGSYS);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  pid_t child = 0;
  const char* arguments[] = {"sh", "-c", "grep SigBlk /proc/self/status | tail -c 9", nullptr};
  fflush(nullptr);
  REQUIRE_THAT(posix_spawnp(&child, "sh", nullptr, nullptr, const_cast<char**>(arguments), nullptr) == 0);
  int status = -1;
  become_converted();
  REQUIRE_THAT(waitpid(child, &status, 0) == child && status == 0);
  REQUIRE_THAT(waitpid(-1, &status, 0) == -1 && errno == ECHILD);
}

void executes() {
  isolated_start();
  Team team(2, [](int i) {
    become_converted();
    if (i == 0)
      for (;;) continue;
    pause_ms(50);
    execlp("/nowhere/at/all", "x", nullptr);
    REQUIRE_THAT(errno == ENOENT);
    become_converted();
    execlp("sh", "sh", "-c", "echo executed; grep -E 'SigBlk|SigIgn' /proc/self/status; exit 3", nullptr);
    REQUIRE_THAT(false);
  });
}

// --- memory

void maps_memory() {
  isolated_start();
  static std::atomic<char*> memory{nullptr};
  static std::atomic<int> step{0};
  struct sigaction action {};
  action.sa_sigaction = jump_out;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  Team team(1, [](int) {
    become_converted();
    while (step != 1) continue;
    become_converted();
    memory.load()[0] = 'b';  // mapped after this converted thread was created
    step = 2;
    while (step != 3) continue;
    if (!sigsetjmp(before_fault, 1)) {
      become_converted();
      memory.load()[0] = 'c';
      REQUIRE_THAT(false);
    }
    step = 4;
  });
  become_converted();
  memory = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  REQUIRE_THAT(memory.load() != MAP_FAILED);
  memory.load()[0] = 'a';
  become_converted();
  step = 1;
  while (step != 2) continue;
  REQUIRE_THAT(memory.load()[0] == 'b');
  REQUIRE_THAT(mprotect(memory.load(), 4096, PROT_READ) == 0);
  become_converted();
  step = 3;
  while (step != 4) continue;
  REQUIRE_THAT(memory.load()[0] == 'b');
  REQUIRE_THAT(munmap(memory.load(), 8192) == 0);
  become_converted();
  void* library = dlopen("libz.so.1", RTLD_NOW);
  REQUIRE_THAT(library && dlsym(library, "crc32"));
  dlclose(library);
}

constexpr Case kCases[] = {
    {"handled_faults", handled_faults},
    {"segfault", segfault},
    {"crashes_with_own_page", crashes_with_own_page},
    {"stack_overflow", stack_overflow},
    {"aborts", aborts},
    {"exits", exits},
    {"ends_at_once", ends_at_once},
    {"main_thread_leaves", main_thread_leaves},
    {"leaves_no_zombie", leaves_no_zombie},
    {"runs_on", runs_on},
    {"children", children},
    {"executes", executes},
    {"maps_memory", maps_memory},
};

}  // namespace

std::span<const Case> end_cases() {
  return kCases;
}

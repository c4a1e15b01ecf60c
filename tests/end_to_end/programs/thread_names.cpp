// thread_names HOW: threads get their names in every possible way, use 0.2 s each and wait. Then the process
// ends by HOW: return, _exit, kill, exec, fork (the child continues under a name of its own). `attach`:
// prints "ready" when all have names, "renamed" a second later when some have others, and ends at the end of
// its input.

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "spin.h"

namespace {

constexpr double kWork = 0.2;
std::atomic<bool> named_by_creator{false};
std::atomic<bool> rename_now{false};
std::atomic<int> done{0};

[[noreturn]] void* wait_for_the_end() {
  ++done;
  for (;;) pause();
}

void* names_itself(void*) {
  pthread_setname_np(pthread_self(), "self-named");
  spin(kWork);
  return wait_for_the_end();
}

void* is_named_by_its_creator(void*) {
  while (!named_by_creator) spin(0.001);
  spin(kWork);
  return wait_for_the_end();
}

void* uses_prctl(void*) {
  prctl(PR_SET_NAME, "by-prctl");
  spin(kWork);
  return wait_for_the_end();
}

void* uses_the_system_call(void*) {
  // The instruction itself, which no preloaded library can intercept.
  const char* name = "by-system-call";
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_prctl), "D"(PR_SET_NAME), "S"(name), "d"(0)
               : "rcx", "r11", "memory");
  spin(kWork);
  return wait_for_the_end();
}

void* changes_its_name(void*) {
  pthread_setname_np(pthread_self(), "early-name");
  spin(kWork / 2);
  while (!rename_now) spin(0.001);
  pthread_setname_np(pthread_self(), "late-name");
  spin(kWork / 2);
  return wait_for_the_end();
}

void* uses_many_names(void*) {
  char name[16];
  for (int i = 1; i <= 2000; ++i) {
    std::snprintf(name, sizeof name, "request-%d", i);
    pthread_setname_np(pthread_self(), name);
    if (i % 100 == 0) spin(kWork / 20);
  }
  spin(kWork);  // the last name of a killed thread is recorded by now
  return wait_for_the_end();
}

// A thread that a CPU clock never samples.
void* does_nothing(void*) {
  return wait_for_the_end();
}

void* ends(void*) {
  pthread_setname_np(pthread_self(), "has-ended");
  spin(kWork);
  ++done;
  return nullptr;
}

pthread_t start(void* (*routine)(void*)) {
  pthread_t thread;
  pthread_create(&thread, nullptr, routine, nullptr);
  return thread;
}

}  // namespace

int main(int, char** argv) {
  const std::string how = argv[1];
  rename_now = how != "attach";
  for (auto* routine :
       {names_itself, uses_prctl, uses_the_system_call, changes_its_name, uses_many_names, ends})
    start(routine);
  pthread_setname_np(start(is_named_by_its_creator), "by-creator");
  named_by_creator = true;
  const pthread_t idle = start(does_nothing);
  if (how != "attach") pthread_setname_np(idle, "idle-one");
  prctl(PR_SET_NAME, "renamed-main");
  while (done < (how == "attach" ? 7 : 8)) spin(0.001);
  if (how == "attach") {
    std::puts("ready");
    std::fflush(stdout);
    spin(1.0);
    rename_now = true;
    pthread_setname_np(idle, "idle-one");
    while (done < 8) spin(0.001);
    std::puts("renamed");
    std::fflush(stdout);
    std::getchar();
  }
  if (how == "_exit") _exit(0);
  if (how == "kill") raise(SIGKILL);
  if (how == "exec") execlp("true", "true", nullptr);
  if (how == "fork") {
    if (const pid_t child = fork(); child > 0) return waitpid(child, nullptr, 0) != child;
    prctl(PR_SET_NAME, "child-of-fork");
    spin(kWork);
  }
  return 0;
}

#pragma once
// Memory is made common permanently, so each test does it in a process of its own.

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

// Returns the wait status of a forked child that runs the function, whose result is the exit status.
template <typename Function>
int status_of(Function function) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);  // replaces the test driver's handler, which would report it
    _exit(function());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

template <typename Function>
bool holds_in_child(Function function) {
  return status_of([&] { return function() ? 0 : 1; }) == 0;
}

// Runs the function in a process that shares only common memory with this one, and waits for its end.
template <typename Function>
bool in_other_process(Function function) {
  constexpr size_t kStack = 256 * 1024;
  char* const stack = static_cast<char*>(aligned_alloc(4096, kStack));
  const auto run = [](void* argument) {
    (*static_cast<Function*>(argument))();
    syscall(SYS_exit_group, 0);
    return 0;
  };
  const int other = clone(run, stack + kStack, SIGCHLD, &function);
  int status = -1;
  const bool is_over = other > 0 && waitpid(other, &status, 0) == other;
  return is_over && status == 0;
}

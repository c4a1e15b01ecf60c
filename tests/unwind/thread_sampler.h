#pragma once
// A timer that interrupts its thread, and a stack walk in the handler. Shared by the tests of the walk.

#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <pthread.h>
#include <sys/syscall.h>

#include <catch2/catch.hpp>

#include "hpcrun/guest/arena.h"
#include "hpcrun/unwind/modules.h"
#include "hpcrun/unwind/unwinder.h"

namespace prof_test {

inline hpcrun::StackBounds own_stack_bounds() {
  pthread_attr_t attributes;
  REQUIRE(pthread_getattr_np(pthread_self(), &attributes) == 0);
  void* low = nullptr;
  size_t bytes = 0;
  REQUIRE(pthread_attr_getstack(&attributes, &low, &bytes) == 0);
  pthread_attr_destroy(&attributes);
  const auto start = reinterpret_cast<uint64_t>(low);
  return {start, start + bytes};
}

// As long as it lives, the thread that created it gets `signal` from a monotonic timer.
class ThreadTimer {
 public:
  ThreadTimer(int signal, long period_ns) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
    REQUIRE(timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0);
    itimerspec period{};
    period.it_interval.tv_nsec = period_ns;
    period.it_value.tv_nsec = period_ns;
    REQUIRE(timer_settime(timer_, 0, &period, nullptr) == 0);
    signal_ = signal;
  }
  // Delivers a pending signal before it returns.
  ~ThreadTimer() {
    timer_delete(timer_);
    syscall(SYS_gettid);
  }
  ThreadTimer(const ThreadTimer&) = delete;
  ThreadTimer& operator=(const ThreadTimer&) = delete;

 private:
  timer_t timer_{};
  int signal_ = 0;
};

// Everything that the stack walk of one thread needs.
struct ThreadWalker {
  hpcrun::Arena arena;
  hpcrun::Unwinder unwinder;

  ThreadWalker() { REQUIRE(unwinder.attach(arena, own_stack_bounds())); }
  ~ThreadWalker() { arena.release_all(); }
  ThreadWalker(const ThreadWalker&) = delete;
  ThreadWalker& operator=(const ThreadWalker&) = delete;
};

inline void install_handler(int signal, void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART | flags;
  REQUIRE(sigaction(signal, &action, nullptr) == 0);
}

}  // namespace prof_test

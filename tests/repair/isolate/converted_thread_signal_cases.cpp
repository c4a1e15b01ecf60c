// Cases of converted_thread_cases.cpp with signals: sent, blocked, pending, from timers and pipes, and
// cancellation.

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include <atomic>

#include "tests/repair/isolate/converted_thread_case_list.h"
#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/team.h"

namespace {

volatile sig_atomic_t handled = 0;
volatile sig_atomic_t handled_as_converted = 0;
volatile sig_atomic_t handled_by = 0;
thread_local volatile sig_atomic_t handled_here = 0;
void count_signal(int) {
  handled = handled + 1;
  handled_as_converted = handled_as_converted + isolated_is_converted();
  handled_by = thread_id();
  handled_here = 1;
}
void handle(int signal, int flags = 0) {
  struct sigaction action {};
  action.sa_handler = count_signal;
  action.sa_flags = flags;
  sigfillset(&action.sa_mask);
  REQUIRE_THAT(sigaction(signal, &action, nullptr) == 0);
}

void signals() {
  handle(SIGUSR1);
  isolated_start();
  struct sigaction seen;
  sigaction(SIGUSR1, nullptr, &seen);
  REQUIRE_THAT(sigismember(&seen.sa_mask, SIGSYS));
  handle(SIGUSR2);

  become_converted();
  raise(SIGUSR1);
  REQUIRE_THAT(handled == 1 && handled_by == thread_id());
  become_converted();
  kill(getpid(), SIGUSR2);
  REQUIRE_THAT(handled == 2);

  become_converted();
  sigset_t mask = only(SIGUSR1), old;
  REQUIRE_THAT(pthread_sigmask(SIG_BLOCK, &mask, &old) == 0 && !sigismember(&old, SIGUSR1));
  REQUIRE_THAT(isolated_is_converted());
  raise(SIGUSR1);
  become_converted();
  sigset_t pending;
  sigpending(&pending);
  REQUIRE_THAT(handled == 2 && sigismember(&pending, SIGUSR1));
  REQUIRE_THAT(isolated_is_converted());
  pthread_sigmask(SIG_UNBLOCK, &mask, &old);
  REQUIRE_THAT(handled == 3 && sigismember(&old, SIGUSR1));

  // All signals. Ours are never blocked, which the program must not notice.
  sigset_t all;
  sigfillset(&all);
  for (int turn = 0; turn < 2; ++turn) {
    if (turn) become_converted();
    pthread_sigmask(SIG_SETMASK, &all, &old);
    REQUIRE_THAT(write(-1, "", 1) == -1 && errno == EBADF);
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, &old, &now);
    REQUIRE_THAT(sigismember(&now, SIGSYS) && sigismember(&now, SIGUSR2));
  }

  // To a converted thread that computes, one that sleeps, and one that waits for a signal.
  handled = 0;
  std::atomic<bool> ready[3] = {};
  Team team(3, [&](int i) {
    if (i == 2) pthread_sigmask(SIG_BLOCK, &mask, nullptr);
    become_converted();
    ready[i] = true;
    if (i == 0)
      while (!handled_here) continue;
    if (i == 1) {
      const timespec time{100, 0};
      REQUIRE_THAT(nanosleep(&time, nullptr) == -1 && errno == EINTR);
    }
    if (i == 2) {
      int got = 0;
      REQUIRE_THAT(sigwait(&mask, &got) == 0 && got == SIGUSR1);
    }
  });
  for (int i = 0; i < 3; ++i) {
    while (!ready[i]) sched_yield();
    pause_ms(20);
    become_converted();
    REQUIRE_THAT(pthread_kill(team.thread(i), SIGUSR1) == 0);
  }
  team.join();
  REQUIRE_THAT(handled == 2 && handled_as_converted == 0);
}

std::atomic<int> handlers_run;

// A converted thread that waits in a call is asked to come home, and the program sends it a signal shortly
// afterwards, with a varying delay. Wherever the thread is then, on its way home or on its call's way back
// into the kernel, the handler ends the call, which had begun. Otherwise the thread would continue to wait as
// if there had been no signal.
void handled_on_the_way() {
  constexpr int kTurns = 5'000;
  constexpr uint64_t kMaxGapNs = 200'000;  // in which a converted thread that is asked home waits again
  struct sigaction action {};
  action.sa_handler = [](int) { ++handlers_run; };
  action.sa_flags = SA_RESTART;
  REQUIRE_THAT(sigaction(SIGUSR1, &action, nullptr) == 0);
  isolated_start();
  const pthread_t waiter = pthread_self();
  const int tid = thread_id();
  std::atomic<int> turn{0};
  Team sender(1, [&](int) {
    for (int i = 1; i <= kTurns; ++i) {
      while (turn < i || !waits_in(tid, {SYS_clock_nanosleep, SYS_poll})) continue;
      isolated_ask_back(tid);
      const uint64_t asked = now_ns(), gap = static_cast<uint64_t>(i) * 379 % kMaxGapNs;
      while (now_ns() - asked < gap) continue;
      REQUIRE_THAT(pthread_kill(waiter, SIGUSR1) == 0);
    }
  });
  for (int i = 1; i <= kTurns; ++i) {
    become_converted();
    const timespec time{20, 0};
    pollfd none{-1, 0, 0};
    turn = i;
    REQUIRE_THAT((i % 2 ? nanosleep(&time, nullptr) : poll(&none, 1, 20'000)) == -1 && errno == EINTR);
    REQUIRE_THAT(handlers_run == i);
  }
  sender.join();
}

void timers() {
  handle(SIGALRM);
  handle(SIGVTALRM);
  isolated_start();
  become_converted();
  alarm(1);
  REQUIRE_THAT(isolated_is_converted());
  const uint64_t begin = now_ns();
  while (!handled && now_ns() - begin < 20'000'000'000) continue;
  REQUIRE_THAT(handled == 1);
  become_converted();
  const itimerval interval{{0, 0}, {0, 50'000}};
  setitimer(ITIMER_REAL, &interval, nullptr);
  while (handled < 2 && now_ns() - begin < 20'000'000'000) continue;
  REQUIRE_THAT(handled == 2);
  become_converted();
  pollfd none{-1, 0, 0};
  const uint64_t before = now_ns();
  REQUIRE_THAT(poll(&none, 1, 60) == 0);
  REQUIRE_THAT(now_ns() - before >= 59'000'000);
}

void ignored_signals() {
  signal(SIGUSR1, SIG_IGN);
  isolated_start();
  become_converted();
  const int tid = thread_id(), pid = getpid();
  Team sender(1, [&](int) {
    for (int i = 0; i < 20; ++i) {
      syscall(SYS_tgkill, pid, tid, SIGUSR1);
      syscall(SYS_tgkill, pid, tid, SIGCHLD);
    }
  });
  while (isolated_counts().given_back[1]) continue;
  pause_ms(100);
  REQUIRE_THAT(isolated_counts().given_back[1] == 0);
}

void pipes() {
  isolated_start();
  int ends[2];
  REQUIRE_THAT(pipe(ends) == 0);
  close(ends[0]);
  handle(SIGPIPE);
  become_converted();
  REQUIRE_THAT(write(ends[1], "x", 1) == -1 && errno == EPIPE);
  REQUIRE_THAT(handled == 1);
  signal(SIGPIPE, SIG_DFL);
  become_converted();
  (void)!write(ends[1], "x", 1);
  REQUIRE_THAT(false);
}

void cancelled() {
  isolated_start();
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::atomic<int> ready{0}, cleaned{0};
  int ends[2];
  REQUIRE_THAT(pipe(ends) == 0);
  Team team(2, [&](int i) {
    become_converted();
    pthread_cleanup_push([](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &cleaned);
    ++ready;
    char byte;
    if (i == 0) REQUIRE_THAT(read(ends[0], &byte, 1) == 1);
    if (i == 1) sem_wait(&semaphore);
    pthread_cleanup_pop(0);
  });
  while (ready != 2) sched_yield();
  pause_ms(50);
  pthread_cancel(team.thread(0));
  pthread_cancel(team.thread(1));
  team.join();
  REQUIRE_THAT(cleaned == 2);
}

constexpr Case kCases[] = {
    {"signals", signals}, {"handled_on_the_way", handled_on_the_way},
    {"timers", timers},   {"ignored_signals", ignored_signals},
    {"pipes", pipes},     {"cancelled", cancelled},
};

}  // namespace

std::span<const Case> signal_cases() {
  return kCases;
}

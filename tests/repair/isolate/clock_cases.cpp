// Effects of a process's CPU time and state in the kernel, case by case, like converted_thread_cases.cpp:
// times, timers and limits of CPU time, stops, and per-thread descriptors. clock_cases.py runs them.

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "repair/isolate/session/session.h"
#include "tests/repair/isolate/converted_thread_turns.h"
#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/team.h"

namespace {

constexpr uint64_t kMs = 1'000'000;

void burn(uint64_t ns) {
  const uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin < ns) continue;
}

volatile sig_atomic_t handled = 0;
void handle(int signal) {
  struct sigaction action {};
  action.sa_handler = [](int) { handled = handled + 1; };
  sigaction(signal, &action, nullptr);
}

// --- CPU time

// Returns hundredths of a second. Converted threads, running or ended, count as the program's own time.
clock_t own(const tms& times) {
  return times.tms_utime + times.tms_stime;
}

void times_of_all() {
  isolated_start();
  tms before{};
  REQUIRE_THAT(times(&before) != -1);
  become_converted();
  burn(300 * kMs);
  tms running{};
  REQUIRE_THAT(times(&running) != -1);
  REQUIRE_THAT(own(running) - own(before) >= 25);
  isolated_give_back();
  pause_ms(50);
  become_converted();  // the previous one has been reaped
  tms left{};
  REQUIRE_THAT(times(&left) != -1);
  REQUIRE_THAT(own(left) >= own(running));
  REQUIRE_THAT(left.tms_cutime + left.tms_cstime <= before.tms_cutime + before.tms_cstime + 2);
  REQUIRE_THAT(times(nullptr) != -1);
}

// A sum that is taken while a converted thread ends must not exceed the sum after it has ended, except for
// the time that ending takes.
void converted_threads_are_counted_once() {
  constexpr int kTurns = 20;
  isolated_start();
  std::atomic<int> left{0}, seen{0};
  Team other(1, [&](int) {
    for (int turn = 1; turn <= kTurns; ++turn) {
      become_converted();
      volatile int steps = 0;
      while (steps < 5'000'000) steps = steps + 1;
      isolated_give_back();
      left = turn;
      while (seen < turn) sched_yield();
    }
  });
  uint64_t most = 0;
  while (seen < kTurns) {
    const int turn = left;
    const uint64_t converted_threads_ns = isolated_converted_cpu_ns();
    REQUIRE_THAT(turn == seen || most <= converted_threads_ns + kMs);
    most = std::max(most, converted_threads_ns);
    seen = turn;
  }
  REQUIRE_THAT(most > kTurns * kMs);
}

// The signal arrives even if all work is done by a thread that was converted when the timer was set.
void timer_comes_by(int which, int signal) {
  handle(signal);
  isolated_start();
  std::atomic<bool> over{false};
  std::atomic<int> converted_threads{0};
  Team other(1, [&](int) {
    become_converted();
    ++converted_threads;
    while (!over) continue;
  });
  while (!converted_threads) sched_yield();
  become_converted();
  const itimerval none{{0, 0}, {0, 0}};
  REQUIRE_THAT(setitimer(which, &none, nullptr) == 0);
  REQUIRE_THAT(isolated_is_converted());  // that starts no watch
  const itimerval interval{{0, 0}, {0, 100'000}};
  REQUIRE_THAT(setitimer(which, &interval, nullptr) == 0);
  REQUIRE_THAT(!isolated_is_converted() && !isolated_convert());
  const uint64_t begin = now_ns();
  while (!handled && now_ns() - begin < 20'000 * kMs) continue;
  REQUIRE_THAT(handled == 1);
  over = true;
}
void virtual_timer() {
  timer_comes_by(ITIMER_VIRTUAL, SIGVTALRM);
}
void profiling_timer() {
  timer_comes_by(ITIMER_PROF, SIGPROF);
}

void posix_timer() {
  handle(SIGUSR1);
  isolated_start();
  become_converted();
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  timer_t timer;
  REQUIRE_THAT(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  REQUIRE_THAT(isolated_is_converted());
  REQUIRE_THAT(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0);
  REQUIRE_THAT(!isolated_is_converted() && !isolated_convert());
  const itimerspec limit{{0, 0}, {0, 50'000'000}};
  REQUIRE_THAT(timer_settime(timer, 0, &limit, nullptr) == 0);
  burn(200 * kMs);
  REQUIRE_THAT(handled == 1);
}

// A limit is for the whole process, not for each converted thread.
void limit() {
  handle(SIGXCPU);
  isolated_start();
  become_converted();
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  REQUIRE_THAT(setrlimit(RLIMIT_CPU, &all) == 0);
  const rlimit second{1, RLIM_INFINITY};
  REQUIRE_THAT(setrlimit(RLIMIT_CPU, &second) == 0);
  REQUIRE_THAT(!isolated_convert());
  Team other(1, [](int) {
    const uint64_t begin = now_ns();
    while (!handled && now_ns() - begin < 20'000 * kMs) continue;
  });
  other.join();
  REQUIRE_THAT(handled >= 1);
}

void sleep_by_cpu_time() {
  isolated_start();
  std::atomic<bool> over{false};
  std::atomic<int> converted_threads{0};
  Team other(1, [&](int) {
    become_converted();
    ++converted_threads;
    while (!over) continue;
  });
  while (!converted_threads) sched_yield();
  become_converted();
  const timespec time{0, 50'000'000};
  REQUIRE_THAT(clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &time, nullptr) == 0);
  over = true;
}

void no_session_comes_about() {
  isolated_make_common();
  constexpr int kUsesCpuTimers = static_cast<int>(hpcrun::SessionStart::UsesCpuTimers);
  const itimerval none{{0, 0}, {0, 0}}, long_time{{0, 0}, {1'000, 0}};
  REQUIRE_THAT(setitimer(ITIMER_PROF, &long_time, nullptr) == 0);
  REQUIRE_THAT(isolated_begin() == kUsesCpuTimers);
  REQUIRE_THAT(setitimer(ITIMER_PROF, &none, nullptr) == 0);

  sigevent event{};
  event.sigev_notify = SIGEV_NONE;
  timer_t real, of_cpu;
  REQUIRE_THAT(timer_create(CLOCK_MONOTONIC, &event, &real) == 0);
  REQUIRE_THAT(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &of_cpu) == 0);
  REQUIRE_THAT(isolated_begin() == kUsesCpuTimers);
  REQUIRE_THAT(timer_delete(of_cpu) == 0);

  rlimit limit{1'000'000, RLIM_INFINITY};
  REQUIRE_THAT(setrlimit(RLIMIT_CPU, &limit) == 0);
  REQUIRE_THAT(isolated_begin() == kUsesCpuTimers);
  limit.rlim_cur = RLIM_INFINITY;
  REQUIRE_THAT(setrlimit(RLIMIT_CPU, &limit) == 0);

  REQUIRE_THAT(isolated_begin() == 0);
  become_converted();
}

// A session after one with watched time works like any other.
void begins_again() {
  handle(SIGPROF);
  isolated_start();
  become_converted();
  const itimerval none{{0, 0}, {0, 0}}, long_time{{0, 0}, {1'000, 0}};
  REQUIRE_THAT(setitimer(ITIMER_PROF, &long_time, nullptr) == 0);
  REQUIRE_THAT(!isolated_convert());
  REQUIRE_THAT(isolated_end());
  REQUIRE_THAT(setitimer(ITIMER_PROF, &none, nullptr) == 0);
  REQUIRE_THAT(isolated_begin() == 0);
  become_converted();
}

// --- stops

// Two converted threads count visibly for the test: one number per line, every 10 ms.
void counts_on() {
  isolated_start();
  static std::atomic<uint64_t> counted{0};
  Team team(2, [](int) {
    become_converted();
    for (;;) ++counted;
  });
  for (;;) {
    printf("%llu\n", static_cast<unsigned long long>(counted.load()));
    fflush(stdout);
    pause_ms(10);
  }
}

// --- a thread's own descriptors

void unshared_descriptors() {
  isolated_start();
  become_converted();
  const int mine = dup(1), kept = dup(1);
  constexpr unsigned kUnshare = 2;
  REQUIRE_THAT(syscall(SYS_close_range, kept, kept, 0) == 0 && isolated_is_converted());
  const long result = syscall(SYS_close_range, mine, mine, kUnshare);
  if (result != 0 && errno == ENOSYS) return;
  REQUIRE_THAT(result == 0 && !isolated_is_converted());
  REQUIRE_THAT(dup(mine) == -1 && errno == EBADF);
  become_converted();  // shares them too
  REQUIRE_THAT(dup(mine) == -1 && errno == EBADF);
  isolated_give_back();
  REQUIRE_THAT(dup(mine) == -1 && errno == EBADF);
}

constexpr Case kCases[] = {
    {"times", times_of_all},
    {"counted_once", converted_threads_are_counted_once},
    {"virtual_timer", virtual_timer},
    {"profiling_timer", profiling_timer},
    {"posix_timer", posix_timer},
    {"limit", limit},
    {"sleep", sleep_by_cpu_time},
    {"no_session_comes_about", no_session_comes_about},
    {"begins_again", begins_again},
    {"counts_on", counts_on},
    {"unshared_descriptors", unshared_descriptors},
};

}  // namespace

int main(int count, char** arguments) {
  return run_case(kCases, count, arguments);
}

// What a program does that may go wrong in a twin, case by case: `twin_cases CASE` ends with status 0 where
// all was as in a program without twins. twins.py runs them and looks at what the cases cannot see.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/isolated_atomics.h"
#include "tests/repair/isolate/team.h"
#include "tests/repair/isolate/twin_turns.h"

namespace {

// --- changing over

void conversions() {
  isolated_start();
  std::atomic<bool> over{false};
  std::atomic<uint64_t> counted[3] = {};
  Team others(3, [&](int i) {
    if (i == 0) become_twin();
    while (!over) ++counted[i];
  });
  double value = 1;
  for (int i = 0; i < 1000; ++i) {
    become_twin();
    value = value * 1.5 + i;  // in registers
    isolated_give_back();
    REQUIRE_THAT(!isolated_is_twin());
    value = (value - i) / 1.5;
  }
  over = true;
  others.join();
  REQUIRE_THAT(value > 0.999 && value < 1.001);
  REQUIRE_THAT(counted[0] && counted[1] && counted[2]);
  const IsolatedCounts counts = isolated_counts();
  REQUIRE_THAT(counts.conversions == 1001 && counts.given_back[0] == 1000);
  REQUIRE_THAT(counts.converted_hooks == 1001 && counts.leaving_hooks == 1001);
  printf("conversion: %.0f us on average, %.0f us at most\n",
         static_cast<double>(counts.conversion_ns) / 1e3 / static_cast<double>(counts.conversions),
         static_cast<double>(counts.longest_ns) / 1e3);
}

void identity() {
  const int pid = getpid(), tid = thread_id(), parent = getppid(), group = getpgrp(), session_id = getsid(0);
  isolated_start();
  become_twin();
  REQUIRE_THAT(getpid() == pid && thread_id() == tid && getppid() == parent);
  REQUIRE_THAT(getpgrp() == group && getsid(0) == session_id);
  char link[64] = "";
  REQUIRE_THAT(readlink("/proc/self", link, sizeof link - 1) > 0);
  REQUIRE_THAT(atoi(link) == pid);
  REQUIRE_THAT(!isolated_is_twin());  // only at home that is the answer
}

void asked_back_anywhere() {
  isolated_start();
  std::atomic<int> tids[3] = {};
  std::atomic<bool> over{false};
  std::atomic<int> came_home{0};
  int ends[2];
  REQUIRE_THAT(pipe(ends) == 0);
  Team team(3, [&](int i) {
    become_twin();
    tids[i] = thread_id();
    char byte;
    if (i == 0)
      while (isolated_is_twin()) continue;
    if (i == 1) REQUIRE_THAT(read(ends[0], &byte, 1) == 1 && byte == 'x');
    if (i == 2) {
      const uint64_t begin = now_ns();
      pause_ms(300);
      REQUIRE_THAT(now_ns() - begin >= 300'000'000);  // and no EINTR
    }
    REQUIRE_THAT(!isolated_is_twin());
    ++came_home;
  });
  for (auto& tid : tids)
    while (!tid) sched_yield();
  pause_ms(50);
  isolated_bring_all_home();
  REQUIRE_THAT(!isolated_convert());
  REQUIRE_THAT(write(ends[1], "x", 1) == 1);
  team.join();
  isolated_release();
  REQUIRE_THAT(came_home == 3);
  REQUIRE_THAT(isolated_counts().given_back[1] == 3);
  become_twin();
}

// --- synchronisation, between twins and threads at home, which change over all the time

void mutexes() {
  isolated_start();
  for (const int kind :
       {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP}) {
    for (int other = 0; other < 3; ++other) {
      pthread_mutexattr_t attributes;
      pthread_mutexattr_init(&attributes);
      pthread_mutexattr_settype(&attributes, kind);
      if (other == 1) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
      if (other == 2) pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
      pthread_mutex_t mutex;
      pthread_mutex_init(&mutex, &attributes);
      count_under([&](auto work) {
        REQUIRE_THAT(pthread_mutex_lock(&mutex) == 0);
        if (kind == PTHREAD_MUTEX_RECURSIVE) REQUIRE_THAT(pthread_mutex_lock(&mutex) == 0);
        if (kind == PTHREAD_MUTEX_ERRORCHECK) REQUIRE_THAT(pthread_mutex_lock(&mutex) == EDEADLK);
        work();
        if (kind == PTHREAD_MUTEX_RECURSIVE) REQUIRE_THAT(pthread_mutex_unlock(&mutex) == 0);
        REQUIRE_THAT(pthread_mutex_unlock(&mutex) == 0);
      });
    }
  }
}

void locks() {
  isolated_start();
  pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
  count_under([&](auto work) {
    REQUIRE_THAT(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
    REQUIRE_THAT(pthread_rwlock_wrlock(&rwlock) == 0);
    work();
    REQUIRE_THAT(pthread_rwlock_unlock(&rwlock) == 0);
  });
  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  count_under([&](auto work) {
    while (sem_wait(&semaphore) != 0) REQUIRE_THAT(errno == EINTR);
    work();
    sem_post(&semaphore);
  });
  std::atomic<int> word{0};  // waits by the system call of the C++ library
  count_under([&](auto work) {
    for (int free = 0; !word.compare_exchange_strong(free, 1); free = 0) word.wait(1);
    work();
    word = 0;
    word.notify_one();
  });
}

void conditions() {
  isolated_start();
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  int turn = 0;
  constexpr int kTurns = 900;
  Team team(3, [&](int i) {
    for (int own = i; own < kTurns; own += 3) {
      if (i != 2 && own % 90 == i) REQUIRE_THAT(isolated_convert());
      if (i == 1 && own % 90 == 46) isolated_give_back();
      pthread_mutex_lock(&mutex);
      while (turn != own) {
        if (i == 0) {
          timespec until;
          clock_gettime(CLOCK_REALTIME, &until);
          until.tv_sec += 60;
          REQUIRE_THAT(pthread_cond_timedwait(&changed, &mutex, &until) == 0);
        } else {
          pthread_cond_wait(&changed, &mutex);
        }
      }
      ++turn;
      pthread_cond_broadcast(&changed);
      pthread_mutex_unlock(&mutex);
    }
  });
  team.join();
  REQUIRE_THAT(turn == kTurns);
}

void barriers() {
  isolated_start();
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 4);
  int rounds[4] = {};
  std::atomic<int> serial{0};
  Team team(4, [&](int i) {
    for (int round = 0; round < 300; ++round) {
      if (i < 3 && round % 50 == 10 * i) REQUIRE_THAT(isolated_convert());
      if (i == 1 && round % 50 == 30) isolated_give_back();
      rounds[i] = round;
      if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
      for (const int other : rounds) REQUIRE_THAT(other == round);
      pthread_barrier_wait(&barrier);
    }
  });
  team.join();
  REQUIRE_THAT(serial == 300);
}

// Threads that went to sleep by private futexes before the session began, and by shared ones before it ends.
void sleepers() {
  isolated_make_common();
  for (int turn = 0; turn < 2; ++turn) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t of_condition = PTHREAD_MUTEX_INITIALIZER;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    bool told = false;
    std::atomic<int> asleep{0}, awake{0};
    pthread_mutex_lock(&mutex);
    if (turn == 1) REQUIRE_THAT(isolated_begin() == 0);
    Team team(6, [&](int i) {
      ++asleep;
      if (i == 0) pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
      if (i == 1 || i == 2) {
        pthread_mutex_lock(&of_condition);
        while (!told) pthread_cond_wait(&condition, &of_condition);
        pthread_mutex_unlock(&of_condition);
      }
      if (i == 3) REQUIRE_THAT(sem_wait(&semaphore) == 0);
      if (i == 4)
        while (awake != 4) sched_yield();
      if (i == 5) {
        const uint64_t begin = now_ns();
        timespec left{0, 0}, time{0, 150'000'000};
        while (nanosleep(&time, &left) != 0 && errno == EINTR) time = left;
        REQUIRE_THAT(now_ns() - begin >= 150'000'000);
      }
      if (i < 4) ++awake;
    });
    while (asleep != 6) sched_yield();
    pause_ms(100);
    Team waker(1, [&](int) {
      if (turn == 0) {
        REQUIRE_THAT(isolated_begin() == 0);
        become_twin();
      } else {
        REQUIRE_THAT(isolated_end());
        REQUIRE_THAT(!isolated_convert());
      }
      pthread_mutex_lock(&of_condition);
      told = true;
      pthread_cond_broadcast(&condition);
      pthread_mutex_unlock(&of_condition);
      sem_post(&semaphore);
    });
    waker.join();
    pthread_mutex_unlock(&mutex);
    team.join();
    if (turn == 0) REQUIRE_THAT(isolated_end());
  }
}

// Traps, as a profiler's events raise them, come while all threads enter a session or leave it, and their
// handler, which blocks every signal, makes system calls.
std::atomic<uint64_t> traps{0};

void on_trap(int) {
  traps += syscall(SYS_getppid) != 0;
}

void traps_at_ends() {
  isolated_make_common();
  struct sigaction action {};
  action.sa_handler = on_trap;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  sigaction(SIGTRAP, &action, nullptr);
  std::atomic<int> ready{0};
  std::atomic<bool> over{false};
  Team team(3, [&](int) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGTRAP;
    event._sigev_un._tid = thread_id();
    timer_t timer;
    REQUIRE_THAT(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    const itimerspec often{{0, 30'000}, {0, 30'000}};
    REQUIRE_THAT(timer_settime(timer, 0, &often, nullptr) == 0);
    ++ready;
    while (!over) continue;
    timer_delete(timer);
  });
  while (ready != 3) sched_yield();
  for (int turn = 0; turn < 200 || traps < 100; ++turn) {
    REQUIRE_THAT(isolated_begin() == 0);
    REQUIRE_THAT(isolated_end());
  }
  over = true;
}

void joins() {
  isolated_start();
  become_twin();
  pthread_t first = 0;
  Team team;
  team.add(1, [&](int) {
    become_twin();
    pause_ms(50);
  });
  first = team.thread(0);
  (void)first;
  team.join();  // a twin by a twin
  Team home(1, [](int) { pause_ms(50); });
  become_twin();
  home.join();
}

void creates_threads() {
  isolated_start();
  become_twin();
  std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) {
    Team team(3, [&](int) {
      become_twin();
      ++ran;
    });
    isolated_convert();
    team.join();
  }
  REQUIRE_THAT(ran == 60);
}

// --- signals

volatile sig_atomic_t handled = 0;
volatile sig_atomic_t handled_as_twin = 0;
volatile sig_atomic_t handled_by = 0;
thread_local volatile sig_atomic_t handled_here = 0;
void count_signal(int) {
  handled = handled + 1;
  handled_as_twin = handled_as_twin + isolated_is_twin();
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
sigset_t only(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

void signals() {
  handle(SIGUSR1);
  isolated_start();
  struct sigaction seen;
  sigaction(SIGUSR1, nullptr, &seen);
  REQUIRE_THAT(sigismember(&seen.sa_mask, SIGSYS));
  handle(SIGUSR2);

  become_twin();
  raise(SIGUSR1);
  REQUIRE_THAT(handled == 1 && handled_by == thread_id());
  become_twin();
  kill(getpid(), SIGUSR2);
  REQUIRE_THAT(handled == 2);

  become_twin();
  sigset_t mask = only(SIGUSR1), old;
  REQUIRE_THAT(pthread_sigmask(SIG_BLOCK, &mask, &old) == 0 && !sigismember(&old, SIGUSR1));
  REQUIRE_THAT(isolated_is_twin());
  raise(SIGUSR1);
  become_twin();
  sigset_t pending;
  sigpending(&pending);
  REQUIRE_THAT(handled == 2 && sigismember(&pending, SIGUSR1));
  REQUIRE_THAT(isolated_is_twin());
  pthread_sigmask(SIG_UNBLOCK, &mask, &old);
  REQUIRE_THAT(handled == 3 && sigismember(&old, SIGUSR1));

  // All signals: ours are never blocked, and the program does not see it.
  sigset_t all;
  sigfillset(&all);
  for (int turn = 0; turn < 2; ++turn) {
    if (turn) become_twin();
    pthread_sigmask(SIG_SETMASK, &all, &old);
    REQUIRE_THAT(write(-1, "", 1) == -1 && errno == EBADF);
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, &old, &now);
    REQUIRE_THAT(sigismember(&now, SIGSYS) && sigismember(&now, SIGUSR2));
  }

  // To a twin that computes, one that sleeps, and one that waits for a signal.
  handled = 0;
  std::atomic<bool> ready[3] = {};
  Team team(3, [&](int i) {
    if (i == 2) pthread_sigmask(SIG_BLOCK, &mask, nullptr);
    become_twin();
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
    become_twin();
    REQUIRE_THAT(pthread_kill(team.thread(i), SIGUSR1) == 0);
  }
  team.join();
  REQUIRE_THAT(handled == 2 && handled_as_twin == 0);
}

std::atomic<int> handlers_run;

// A twin that waits in a call is asked back, and gets a signal of the program's a little later, sooner or
// later each time: at whatever instruction of ours it is on its way home, and on the way of its call into the
// kernel again, the handler ends the call, which had begun. Otherwise it would wait on as if no signal had
// come.
void handled_on_the_way() {
  constexpr int kTurns = 5'000;
  constexpr uint64_t kLongestGap = 200'000;  // ns, in which a twin that is asked back waits again
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
      const uint64_t asked = now_ns(), gap = static_cast<uint64_t>(i) * 379 % kLongestGap;
      while (now_ns() - asked < gap) continue;
      REQUIRE_THAT(pthread_kill(waiter, SIGUSR1) == 0);
    }
  });
  for (int i = 1; i <= kTurns; ++i) {
    become_twin();
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
  become_twin();
  alarm(1);
  REQUIRE_THAT(isolated_is_twin());
  const uint64_t begin = now_ns();
  while (!handled && now_ns() - begin < 20'000'000'000) continue;
  REQUIRE_THAT(handled == 1);
  become_twin();
  const itimerval interval{{0, 0}, {0, 50'000}};
  setitimer(ITIMER_REAL, &interval, nullptr);
  while (handled < 2 && now_ns() - begin < 20'000'000'000) continue;
  REQUIRE_THAT(handled == 2);
  become_twin();
  pollfd none{-1, 0, 0};
  const uint64_t before = now_ns();
  REQUIRE_THAT(poll(&none, 1, 60) == 0);
  REQUIRE_THAT(now_ns() - before >= 59'000'000);
}

void ignored_signals() {
  signal(SIGUSR1, SIG_IGN);
  isolated_start();
  become_twin();
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
  become_twin();
  REQUIRE_THAT(write(ends[1], "x", 1) == -1 && errno == EPIPE);
  REQUIRE_THAT(handled == 1);
  signal(SIGPIPE, SIG_DFL);
  become_twin();
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
    become_twin();
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

// --- faults

sigjmp_buf before_fault;
volatile sig_atomic_t fault_code = 0;
void jump_out(int signal, siginfo_t* info, void*) {
  REQUIRE_THAT(!isolated_is_twin());
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
        become_twin();
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
  become_twin();
  *nowhere = 1;
}

// On a page that each twin has for itself. Named for debuggers.
extern "C" {
alignas(4096) volatile uint64_t words_of_crash[512];
}

// One thread of three crashes, after it wrote what nobody else has; another one has what it wrote only for
// itself.
void crashes_with_own_page() {
  isolated_make_common();
  isolated_plan_atomics(false);
  isolated_add_page(const_cast<uint64_t*>(words_of_crash));
  words_of_crash[0] = 1;
  REQUIRE_THAT(isolated_begin() == 0);
  static std::atomic<bool> is_written{false};
  new Team(2, [](int i) {
    become_twin();
    REQUIRE_THAT(isolated_pages() == 1);
    if (i == 0) {
      words_of_crash[1] = 0x1111;
      is_written = true;
      for (;;) continue;
    }
    while (!is_written) continue;
    words_of_crash[2] = 0x5eed5eed5eed;
    REQUIRE_THAT(words_of_crash[1] == 0);  // the other's page is another one
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
    become_twin();
    overflow(0);
  });
}

void aborts() {
  isolated_start();
  become_twin();
  abort();
}

// --- ends

void exits() {
  isolated_start();
  atexit([] { dprintf(1, "at exit %d\n", isolated_is_twin()); });
  new Team(2, [](int i) {
    become_twin();
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
  become_twin();
  _exit(8);
}

void main_thread_leaves() {
  isolated_start();
  new Team(1, [](int) {
    become_twin();
    pause_ms(100);
    exit(9);
  });
  become_twin();
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

// Processes that have ended are taken away as the program runs on, whatever its threads do.
void leaves_no_zombie() {
  isolated_start();
  Team team(2, [](int i) {
    for (int turn = 0; turn < 200; ++turn) {
      while (!isolated_convert()) sched_yield();  // the other one's memory grows
      if (turn % 50 == 25 * i) pause_ms(1);
      isolated_give_back();
      // A thread's last one may be there still.
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
    become_twin();
    if (i == 0)
      for (;;) continue;
    if (i == 1)
      for (;;) pause_ms(10);
    sem_t never;
    sem_init(&never, 0, 0);
    sem_wait(&never);
  });
  become_twin();
  while (isolated_counts().conversions < 4) sched_yield();
  printf("ready\n");
  fflush(stdout);
  for (;;) pause_ms(1000);
}

// --- children

void children() {
  isolated_start();
  become_twin();
  REQUIRE_THAT(WEXITSTATUS(system("exit 5")) == 5);
  become_twin();
  FILE* output = popen("echo from a child", "r");
  become_twin();
  char line[64] = "";
  REQUIRE_THAT(fgets(line, sizeof line, output) && !strcmp(line, "from a child\n"));
  REQUIRE_THAT(pclose(output) == 0);
  become_twin();
  sigset_t mask = only(SIGUSR1);
  sigaddset(&mask, SIGSYS);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  pid_t child = 0;
  const char* arguments[] = {"sh", "-c", "grep SigBlk /proc/self/status | tail -c 9", nullptr};
  fflush(nullptr);
  REQUIRE_THAT(posix_spawnp(&child, "sh", nullptr, nullptr, const_cast<char**>(arguments), nullptr) == 0);
  int status = -1;
  become_twin();
  REQUIRE_THAT(waitpid(child, &status, 0) == child && status == 0);
  REQUIRE_THAT(waitpid(-1, &status, 0) == -1 && errno == ECHILD);
}

void executes() {
  isolated_start();
  Team team(2, [](int i) {
    become_twin();
    if (i == 0)
      for (;;) continue;
    pause_ms(50);
    execlp("/nowhere/at/all", "x", nullptr);
    REQUIRE_THAT(errno == ENOENT);
    become_twin();
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
    become_twin();
    while (step != 1) continue;
    become_twin();
    memory.load()[0] = 'b';  // mapped since this twin was made
    step = 2;
    while (step != 3) continue;
    if (!sigsetjmp(before_fault, 1)) {
      become_twin();
      memory.load()[0] = 'c';
      REQUIRE_THAT(false);
    }
    step = 4;
  });
  become_twin();
  memory = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  REQUIRE_THAT(memory.load() != MAP_FAILED);
  memory.load()[0] = 'a';
  become_twin();
  step = 1;
  while (step != 2) continue;
  REQUIRE_THAT(memory.load()[0] == 'b');
  REQUIRE_THAT(mprotect(memory.load(), 4096, PROT_READ) == 0);
  become_twin();
  step = 3;
  while (step != 4) continue;
  REQUIRE_THAT(memory.load()[0] == 'b');
  REQUIRE_THAT(munmap(memory.load(), 8192) == 0);
  become_twin();
  void* library = dlopen("libz.so.1", RTLD_NOW);
  REQUIRE_THAT(library && dlsym(library, "crc32"));
  dlclose(library);
}

// --- output and time

void prints() {
  isolated_start();
  Team team(4, [](int i) {
    for (int line = 0; line < 200; ++line) {
      if (line % 50 == 10 * i) REQUIRE_THAT(isolated_convert());
      printf("thread %d line %d\n", i, line);
      if (line % 40 == 0) fflush(stdout);
    }
  });
}

void burn(uint64_t ns) {
  const uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin < ns)
    for (int i = 0; i < 100'000; ++i) asm volatile("");
}

void cpu_time() {
  isolated_start();
  burn(20'000'000);
  uint64_t thread = now_ns(CLOCK_THREAD_CPUTIME_ID), process = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < 3; ++i) {
    become_twin();
    burn(20'000'000);
    if (i == 1) isolated_give_back();
    const uint64_t thread_now = now_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t process_now = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    REQUIRE_THAT(thread_now - thread >= 20'000'000 && process_now - process >= 20'000'000);
    thread = thread_now;
    process = process_now;
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto used = static_cast<uint64_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000 +
                    static_cast<uint64_t>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  REQUIRE_THAT(used >= 70'000);
}

void affinity() {
  isolated_start();
  become_twin();
  cpu_set_t all, one, seen;
  REQUIRE_THAT(sched_getaffinity(0, sizeof all, &all) == 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  REQUIRE_THAT(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0);
  REQUIRE_THAT(isolated_is_twin());
  REQUIRE_THAT(sched_getaffinity(0, sizeof seen, &seen) == 0 && CPU_EQUAL(&seen, &one));
  isolated_give_back();
  REQUIRE_THAT(sched_getaffinity(0, sizeof seen, &seen) == 0 && CPU_EQUAL(&seen, &one));
}

constexpr Case kCases[] = {
    {"conversions", conversions},
    {"identity", identity},
    {"asked_back_anywhere", asked_back_anywhere},
    {"mutexes", mutexes},
    {"locks", locks},
    {"conditions", conditions},
    {"barriers", barriers},
    {"sleepers", sleepers},
    {"traps_at_ends", traps_at_ends},
    {"joins", joins},
    {"creates_threads", creates_threads},
    {"signals", signals},
    {"handled_on_the_way", handled_on_the_way},
    {"timers", timers},
    {"ignored_signals", ignored_signals},
    {"pipes", pipes},
    {"cancelled", cancelled},
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
    {"prints", prints},
    {"cpu_time", cpu_time},
    {"affinity", affinity},
};

}  // namespace

int main(int count, char** arguments) {
  return run_case(kCases, count, arguments);
}

// Cases of converted_thread_cases.cpp in which converted threads and threads at home synchronise: locks,
// conditions, barriers, joins, thread creation.

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include <atomic>

#include "tests/repair/isolate/converted_thread_case_list.h"
#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/isolated_atomics.h"
#include "tests/repair/isolate/team.h"

namespace {

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

// Threads that sleep at private futexes since before the session began, and at shared ones until after it
// ends.
void sleepers() {
  isolated_make_common();
  for (int turn = 0; turn < 2; ++turn) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t of_condition = PTHREAD_MUTEX_INITIALIZER;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    bool is_signalled = false;
    std::atomic<int> asleep{0}, awake{0};
    pthread_mutex_lock(&mutex);
    if (turn == 1) REQUIRE_THAT(isolated_begin() == 0);
    Team team(6, [&](int i) {
      ++asleep;
      if (i == 0) pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
      if (i == 1 || i == 2) {
        pthread_mutex_lock(&of_condition);
        while (!is_signalled) pthread_cond_wait(&condition, &of_condition);
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
        become_converted();
      } else {
        REQUIRE_THAT(isolated_end());
        REQUIRE_THAT(!isolated_convert());
      }
      pthread_mutex_lock(&of_condition);
      is_signalled = true;
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

// Traps, as raised by a profiler's events, arrive while all threads enter or leave a session. Their handler
// blocks every signal and makes system calls.
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
  become_converted();
  pthread_t first = 0;
  Team team;
  team.add(1, [&](int) {
    become_converted();
    pause_ms(50);
  });
  first = team.thread(0);
  (void)first;
  team.join();  // a converted thread joins a converted thread
  Team home(1, [](int) { pause_ms(50); });
  become_converted();
  home.join();
}

void creates_threads() {
  isolated_start();
  become_converted();
  std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) {
    Team team(3, [&](int) {
      become_converted();
      ++ran;
    });
    isolated_convert();
    team.join();
  }
  REQUIRE_THAT(ran == 60);
}

constexpr Case kCases[] = {
    {"mutexes", mutexes},       {"locks", locks},
    {"conditions", conditions}, {"barriers", barriers},
    {"sleepers", sleepers},     {"traps_at_ends", traps_at_ends},
    {"joins", joins},           {"creates_threads", creates_threads},
};

}  // namespace

std::span<const Case> sync_cases() {
  return kCases;
}

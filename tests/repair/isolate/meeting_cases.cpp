// Synchronisation that converted_thread_cases.cpp lacks: once-initialisation, time limits that expire, and
// C11's and C++'s own. `meeting_cases CASE` exits with status 0 if everything was as among threads.
// meetings.py runs them.

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <semaphore>
#include <utility>

#include "tests/repair/isolate/converted_thread_turns.h"
#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/team.h"

namespace {

using std::chrono::milliseconds;

// --- once

constexpr int kOnces = 40;
std::atomic<int> onces_done[4][kOnces];
int once = 0;  // the round

void do_slowly(int kind) {
  const int turn = once;
  pause_ms(1);  // other threads arrive meanwhile
  ++onces_done[kind][turn];
}

template <int kNumber>
int guarded() {
  static const int value = [] {
    do_slowly(3);
    return kNumber;
  }();
  return value;
}
template <int... kNumbers>
constexpr std::array<int (*)(), sizeof...(kNumbers)> guarded_of(std::integer_sequence<int, kNumbers...>) {
  return {guarded<kNumbers>...};
}

// All threads begin at once. One of them does the work, and the others continue when it is done.
void onces() {
  constexpr auto kGuarded = guarded_of(std::make_integer_sequence<int, kOnces>());
  static pthread_once_t posix[kOnces];
  static once_flag c11[kOnces];
  static std::once_flag cxx[kOnces];
  isolated_start();
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, kTeam);
  std::atomic<int> thrown{0}, caught{0};
  Team team(kTeam, [&](int i) {
    for (int turn = 0; turn < kOnces; ++turn) {
      take_place(i);
      for (int kind = 0; kind < 4; ++kind) {
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) once = turn;
        pthread_barrier_wait(&barrier);
        switch (kind) {
          case 0:
            pthread_once(&posix[turn], [] { do_slowly(0); });
            break;
          case 1:
            call_once(&c11[turn], [] { do_slowly(1); });
            break;
          case 2:
            // The first one to arrive fails, and another one does the work.
            try {
              std::call_once(cxx[turn], [&] {
                if (thrown == turn && ++thrown) throw turn;
                do_slowly(2);
              });
            } catch (int of) {
              REQUIRE_THAT(of == turn);
              ++caught;
            }
            if (thrown == turn) std::call_once(cxx[turn], [] { do_slowly(2); });
            break;
          case 3:
            REQUIRE_THAT(kGuarded[static_cast<size_t>(turn)]() == turn);
        }
        // A thread that caught the exception returns before another one has done the work.
        if (kind == 2) pthread_barrier_wait(&barrier);
        REQUIRE_THAT(onces_done[kind][turn] == 1);
      }
      if (turn % 8 == 4 * i) isolated_give_back();
    }
  });
  team.join();
  REQUIRE_THAT(thrown == kOnces && caught == kOnces);
}

// --- time limits

// `call` fails with `expected`, not before its limit, with either clock.
template <typename Call>
void gives_up(int expected, Call call) {
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
    const timespec until = in_ms(clock, kLimitMs);
    const int result = call(clock, &until);
    REQUIRE_THAT(result == expected);
    REQUIRE_THAT(now_ns(clock) >=
                 static_cast<uint64_t>(until.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(until.tv_nsec));
  }
}

int error_of(int result) {
  return result == 0 ? 0 : errno;
}

// Other threads cannot take within a time limit what one has, converted or at home. Later they can.
void limits_of_locks() {
  isolated_start();
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  mtx_t timed;
  mtx_init(&timed, mtx_timed);
  std::timed_mutex cxx;
  pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER, read = PTHREAD_RWLOCK_INITIALIZER;
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  for (const bool is_owner_converted : {false, true}) {
    if (is_owner_converted) become_converted();
    pthread_mutex_lock(&mutex);
    mtx_lock(&timed);
    cxx.lock();
    pthread_rwlock_wrlock(&written);
    pthread_rwlock_rdlock(&read);
    Team team(kTeam, [&](int i) {
      take_place(i);
      gives_up(ETIMEDOUT, [&](clockid_t clock, const timespec* until) {
        return pthread_mutex_clocklock(&mutex, clock, until);
      });
      gives_up(ETIMEDOUT, [&](clockid_t clock, const timespec* until) {
        return pthread_rwlock_clockwrlock(&written, clock, until);
      });
      gives_up(ETIMEDOUT, [&](clockid_t clock, const timespec* until) {
        return pthread_rwlock_clockrdlock(&written, clock, until);
      });
      gives_up(ETIMEDOUT, [&](clockid_t clock, const timespec* until) {
        return pthread_rwlock_clockwrlock(&read, clock, until);
      });
      gives_up(ETIMEDOUT, [&](clockid_t clock, const timespec* until) {
        return error_of(sem_clockwait(&semaphore, clock, until));
      });
      timespec until = in_ms(CLOCK_REALTIME, kLimitMs);
      REQUIRE_THAT(pthread_mutex_timedlock(&mutex, &until) == ETIMEDOUT);
      REQUIRE_THAT(pthread_rwlock_timedrdlock(&written, &until) == ETIMEDOUT);
      REQUIRE_THAT(pthread_rwlock_timedwrlock(&written, &until) == ETIMEDOUT);
      REQUIRE_THAT(error_of(sem_timedwait(&semaphore, &until)) == ETIMEDOUT);
      until = in_ms(CLOCK_REALTIME, kLimitMs);
      REQUIRE_THAT(mtx_timedlock(&timed, &until) == thrd_timedout);
      REQUIRE_THAT(!cxx.try_lock_for(milliseconds(kLimitMs)));
      REQUIRE_THAT(pthread_mutex_trylock(&mutex) == EBUSY && mtx_trylock(&timed) == thrd_busy &&
                   !cxx.try_lock());
      REQUIRE_THAT(pthread_rwlock_tryrdlock(&written) == EBUSY && pthread_rwlock_trywrlock(&read) == EBUSY);
      REQUIRE_THAT(pthread_rwlock_tryrdlock(&read) == 0 && pthread_rwlock_unlock(&read) == 0);
      REQUIRE_THAT(error_of(sem_trywait(&semaphore)) == EAGAIN);
    });
    team.join();
    pthread_mutex_unlock(&mutex);
    mtx_unlock(&timed);
    cxx.unlock();
    pthread_rwlock_unlock(&written);
    pthread_rwlock_unlock(&read);
    // A thread that gave up leaves nothing that blocks others.
    Team next(kTeam, [&](int i) {
      take_place(i);
      for (int turn = 0; turn < 50; ++turn) {
        const timespec until = in_ms(CLOCK_MONOTONIC, 60'000);
        REQUIRE_THAT(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until) == 0 &&
                     pthread_mutex_unlock(&mutex) == 0);
        REQUIRE_THAT(pthread_rwlock_clockwrlock(&written, CLOCK_MONOTONIC, &until) == 0 &&
                     pthread_rwlock_unlock(&written) == 0);
        REQUIRE_THAT(pthread_rwlock_clockrdlock(&read, CLOCK_MONOTONIC, &until) == 0 &&
                     pthread_rwlock_unlock(&read) == 0);
        REQUIRE_THAT(cxx.try_lock_for(std::chrono::minutes(1)));
        cxx.unlock();
      }
    });
    next.join();
  }
}

void limits_of_conditions() {
  isolated_start();
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  mtx_t c11_mutex;
  cnd_t c11_never;
  mtx_init(&c11_mutex, mtx_plain);
  cnd_init(&c11_never);
  std::mutex cxx_mutex;
  std::condition_variable cxx_never;
  int within = 0;
  Team team(kTeam, [&](int i) {
    take_place(i);
    pthread_mutex_lock(&mutex);
    gives_up(ETIMEDOUT, [&](clockid_t clock, const timespec* until) {
      const int result = pthread_cond_clockwait(&never, &mutex, clock, until);
      REQUIRE_THAT(++within == 1);  // it has the mutex again
      REQUIRE_THAT(--within == 0);
      return result;
    });
    const timespec until = in_ms(CLOCK_REALTIME, kLimitMs);
    REQUIRE_THAT(pthread_cond_timedwait(&never, &mutex, &until) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    mtx_lock(&c11_mutex);
    const timespec c11_until = in_ms(CLOCK_REALTIME, kLimitMs);
    REQUIRE_THAT(cnd_timedwait(&c11_never, &c11_mutex, &c11_until) == thrd_timedout);
    mtx_unlock(&c11_mutex);
    std::unique_lock lock(cxx_mutex);
    REQUIRE_THAT(cxx_never.wait_for(lock, milliseconds(kLimitMs)) == std::cv_status::timeout);
  });
}

void limits_of_joins() {
  isolated_start();
  for (const bool is_joined_by_converted_thread : {false, true}) {
    if (is_joined_by_converted_thread) become_converted();
    pthread_t threads[2];
    static sem_t may_end;
    sem_init(&may_end, 0, 0);
    for (int i = 0; i < 2; ++i) {
      const auto run = [](void* is_converted) -> void* {
        if (is_converted) become_converted();
        while (sem_wait(&may_end) != 0) REQUIRE_THAT(errno == EINTR);
        return &may_end;
      };
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      pthread_attr_setstack(&attributes, team_stacks[i], kStackBytes);
      REQUIRE_THAT(pthread_create(&threads[i], &attributes, run, i ? &threads : nullptr) == 0);
    }
    for (const pthread_t thread : threads) {
      REQUIRE_THAT(pthread_tryjoin_np(thread, nullptr) == EBUSY);
      gives_up(ETIMEDOUT, [&](clockid_t clock, const timespec* until) {
        return pthread_clockjoin_np(thread, nullptr, clock, until);
      });
      const timespec until = in_ms(CLOCK_REALTIME, kLimitMs);
      REQUIRE_THAT(pthread_timedjoin_np(thread, nullptr, &until) == ETIMEDOUT);
    }
    sem_post(&may_end);
    sem_post(&may_end);
    void* value = nullptr;
    const timespec until = in_ms(CLOCK_REALTIME, 60'000);
    REQUIRE_THAT(pthread_timedjoin_np(threads[0], &value, &until) == 0 && value == &may_end);
    int result;
    while ((result = pthread_tryjoin_np(threads[1], &value)) == EBUSY) pause_ms(1);
    REQUIRE_THAT(result == 0 && value == &may_end);
  }
}

// --- C11's, C++'s, and the system's

void c11_conditions() {
  isolated_start();
  mtx_t mutex;
  cnd_t changed;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&changed);
  int turn = 0;
  constexpr int kTurns = 600;
  Team team(kTeam, [&](int i) {
    for (int own = i; own < kTurns; own += kTeam) {
      if (own % 60 == i) take_place(i);
      if (i == 1 && own % 60 == 31) isolated_give_back();
      mtx_lock(&mutex);
      const timespec until = in_ms(CLOCK_REALTIME, 60'000);
      while (turn != own)
        REQUIRE_THAT((i == 0 ? cnd_timedwait(&changed, &mutex, &until) : cnd_wait(&changed, &mutex)) ==
                     thrd_success);
      ++turn;
      cnd_broadcast(&changed);
      mtx_unlock(&mutex);
    }
  });
  team.join();
  REQUIRE_THAT(turn == kTurns);
  // One at a time.
  std::atomic<int> waiting{0};
  int woken = 0;
  Team sleepers(kTeam, [&](int i) {
    take_place(i);
    mtx_lock(&mutex);
    ++waiting;
    cnd_wait(&changed, &mutex);
    ++woken;
    mtx_unlock(&mutex);
  });
  while (waiting != kTeam) sched_yield();
  for (int i = 0; i < kTeam; ++i) {
    mtx_lock(&mutex);
    cnd_signal(&changed);
    mtx_unlock(&mutex);
  }
  sleepers.join();
  REQUIRE_THAT(woken == kTeam);
}

void named_semaphores() {
  const std::string name = "/prof-meeting-" + std::to_string(getpid());
  isolated_make_common();
  sem_t* before = sem_open(name.c_str(), O_CREAT | O_EXCL, 0600, 1);
  REQUIRE_THAT(before != SEM_FAILED);
  REQUIRE_THAT(isolated_begin() == 0);
  const auto guards = [](sem_t* semaphore) {
    count_under([=](auto work) {
      while (sem_wait(semaphore) != 0) REQUIRE_THAT(errno == EINTR);
      work();
      sem_post(semaphore);
    });
  };
  guards(before);
  become_converted();
  const std::string later_name = name + "-later";
  sem_t* const later = sem_open(later_name.c_str(), O_CREAT | O_EXCL, 0600, 1);  // by a converted thread
  REQUIRE_THAT(later != SEM_FAILED);
  guards(later);
  become_converted();
  REQUIRE_THAT(sem_open(name.c_str(), 0) == before);
  REQUIRE_THAT(sem_close(before) == 0 && sem_close(before) == 0 && sem_close(later) == 0);
  REQUIRE_THAT(sem_unlink(name.c_str()) == 0 && sem_unlink(later_name.c_str()) == 0);
}

void cxx_barriers() {
  isolated_start();
  constexpr int kRounds = 300;
  int completed = 0;
  int rounds[kTeam] = {};
  std::barrier barrier(kTeam, [&]() noexcept { ++completed; });
  std::latch all_done(kTeam);
  Team team(kTeam, [&](int i) {
    for (int round = 0; round < kRounds; ++round) {
      if (round % 50 == 10 * i) take_place(i);
      if (i == 1 && round % 50 == 30) isolated_give_back();
      rounds[i] = round;
      barrier.arrive_and_wait();
      REQUIRE_THAT(completed == 2 * round + 1);
      for (const int other : rounds) REQUIRE_THAT(other == round);
      barrier.arrive_and_wait();
    }
    take_place(i);
    all_done.arrive_and_wait();
    REQUIRE_THAT(all_done.try_wait());
  });
  team.join();
  REQUIRE_THAT(completed == 2 * kRounds);
}

void cxx_semaphores() {
  isolated_start();
  std::binary_semaphore binary(1);
  count_under([&](auto work) {
    binary.acquire();
    work();
    binary.release();
  });
  // That many threads are inside at once, and not more.
  std::counting_semaphore<2> counting(2);
  std::atomic<int> within{0}, most{0};
  Team team(kTeam, [&](int i) {
    take_place(i);
    for (int turn = 0; turn < 300; ++turn) {
      counting.acquire();
      const int now = ++within;
      REQUIRE_THAT(now <= 2);
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
      if (turn % 100 == 0) pause_ms(1);
      --within;
      counting.release();
    }
  });
  team.join();
  REQUIRE_THAT(most == 2 && within == 0);
}

constexpr Case kCases[] = {
    {"onces", onces},
    {"limits_of_locks", limits_of_locks},
    {"limits_of_conditions", limits_of_conditions},
    {"limits_of_joins", limits_of_joins},
    {"c11_conditions", c11_conditions},
    {"named_semaphores", named_semaphores},
    {"cxx_barriers", cxx_barriers},
    {"cxx_semaphores", cxx_semaphores},
};

}  // namespace

int main(int count, char** arguments) {
  return run_case(kCases, count, arguments);
}

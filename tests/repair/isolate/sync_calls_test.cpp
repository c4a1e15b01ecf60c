// Two processes that stand in for converted threads pass data to each other by each synchronisation call. The
// data lies on a page that is private in both; the synchronisation object does not.

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/pages/own_pages.h"
#include "tests/repair/isolate/converted_thread_processes.h"

using namespace hpcrun;
using namespace hpcrun::test;

namespace {

constexpr int kTurns = 300;

timespec in_a_minute(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_sec += 60;
  return time;
}

// A pair of converted threads in which page 0 is private.
class Pair {
 public:
  CommonPages common{3};
  volatile int* const data = common.at<volatile int>(0);

  // Both run it at once, as converted thread 0 and 1.
  void run(const std::function<bool(int)>& converted) const {
    CHECK(in_converted_threads(2, [&](size_t number, PrivatePages& pages) {
            __libc_single_threaded = false;  // as in every process that has converted threads
            own_pages = &pages;
            return pages.isolate(common.page(0)) && converted(static_cast<int>(number));
          }) == 2);
  }

  // Converted thread 0 writes a number and calls tell(0). Converted thread 1 then returns from hear(0), reads
  // it, and answers by 1.
  void hand_over(const std::function<void(int)>& tell, const std::function<void(int)>& hear) const {
    run([&](int converted) {
      for (int turn = 1; turn <= kTurns; ++turn) {
        if (converted == 0) {
          data[0] = turn;
          data[100] = -turn;
          tell(0);
          hear(1);
          if (data[1] != turn) return false;
        } else {
          hear(0);
          if (data[0] != turn || data[100] != -turn) return false;
          data[1] = turn;
          tell(1);
        }
      }
      return true;
    });
  }

  // Data that one converted thread writes under a lock is visible to the other there, with no other call in
  // between.
  void meet_under(const std::function<void()>& lock, const std::function<void()>& unlock) const {
    run([&](int converted) {
      for (int turn = 1; turn <= kTurns;) {
        lock();
        const bool is_my_turn = data[0] % 2 == converted;
        if (is_my_turn) {
          if (data[0] != 2 * (turn - 1) + converted || data[500] != -data[0]) return false;
          data[0] = data[0] + 1;
          data[500] = -data[0];
          ++turn;
        }
        unlock();
        raw_syscall(SYS_sched_yield);  // which does not commit
      }
      return true;
    });
    CHECK(data[0] == 2 * kTurns);
    data[0] = 0;
    data[500] = 0;
  }
};

sem_t* semaphores(const CommonPages& common) {
  auto* const both = common.at<sem_t>(1);
  sem_init(&both[0], 1, 0);
  sem_init(&both[1], 1, 0);
  return both;
}

}  // namespace

TEST_CASE("Without commits nothing is handed over") {
  const Pair pair;
  sem_t* const both = semaphores(pair.common);
  const auto converted = [&](size_t number, PrivatePages& pages) {
    if (!pages.isolate(pair.common.page(0))) return false;
    if (number == 0) {
      pair.data[0] = 1;
      return sem_post(&both[0]) == 0;
    }
    sem_wait(&both[0]);
    return pair.data[0] == 0;
  };
  CHECK(in_converted_threads(2, converted) == 2);
}

TEST_CASE("Mutexes") {
  const Pair pair;
  pthread_mutex_t* const mutex = pair.common.mutex(1);
  const auto unlock = [&] { pthread_mutex_unlock(mutex); };
  pair.meet_under([&] { pthread_mutex_lock(mutex); }, unlock);
  pair.meet_under(
      [&] {
        while (pthread_mutex_trylock(mutex) != 0) sched_yield();
      },
      unlock);
  const timespec until = in_a_minute(CLOCK_REALTIME);
  pair.meet_under([&] { pthread_mutex_timedlock(mutex, &until); }, unlock);
  pair.meet_under([&] { pthread_mutex_clocklock(mutex, CLOCK_REALTIME, &until); }, unlock);
  auto* const c11 = reinterpret_cast<mtx_t*>(mutex);
  pair.meet_under([&] { mtx_lock(c11); }, [&] { mtx_unlock(c11); });
  pair.meet_under([&] { mtx_timedlock(c11, &until); }, [&] { mtx_unlock(c11); });
}

TEST_CASE("Read-write and spin locks") {
  const Pair pair;
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  auto* const lock = pair.common.at<pthread_rwlock_t>(1);
  pthread_rwlock_init(lock, &attributes);
  const auto unlock = [&] { pthread_rwlock_unlock(lock); };
  pair.meet_under([&] { pthread_rwlock_wrlock(lock); }, unlock);
  const timespec until = in_a_minute(CLOCK_REALTIME);
  pair.meet_under([&] { pthread_rwlock_timedwrlock(lock, &until); }, unlock);
  // Written under the lock, read by the other thread under a read lock.
  pair.hand_over(
      [&](int who) {
        pthread_rwlock_wrlock(lock);
        pair.data[200 + who] = pair.data[200 + who] + 1;
        pthread_rwlock_unlock(lock);
      },
      [&](int who) {
        static int heard[2];
        ++heard[who];
        for (bool is_read = false; !is_read;) {
          pthread_rwlock_rdlock(lock);
          is_read = pair.data[200 + who] == heard[who];
          pthread_rwlock_unlock(lock);
          raw_syscall(SYS_sched_yield);
        }
      });
  auto* const spin = pair.common.at<pthread_spinlock_t>(1, 256);
  pthread_spin_init(spin, PTHREAD_PROCESS_SHARED);
  for (const int word : {0, 1, 100}) pair.data[word] = 0;
  pair.meet_under([&] { pthread_spin_lock(spin); }, [&] { pthread_spin_unlock(spin); });
}

TEST_CASE("Conditions") {
  const Pair pair;
  pthread_mutex_t* const mutex = pair.common.mutex(1);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  auto* const condition = pair.common.at<pthread_cond_t>(1, 256);
  pthread_cond_init(condition, &attributes);
  const timespec until = in_a_minute(CLOCK_REALTIME);
  for (const bool timed : {false, true}) {
    pair.run([&](int converted) {
      for (int turn = 0; turn < kTurns; ++turn) {
        pthread_mutex_lock(mutex);
        while (pair.data[0] % 2 != converted)
          if (timed)
            pthread_cond_timedwait(condition, mutex, &until);
          else
            pthread_cond_wait(condition, mutex);
        if (pair.data[0] != 2 * turn + converted) return false;
        pair.data[0] = pair.data[0] + 1;
        pthread_cond_broadcast(condition);
        pthread_mutex_unlock(mutex);
      }
      return true;
    });
    CHECK(pair.data[0] == 2 * kTurns);
    pair.data[0] = 0;
  }
}

TEST_CASE("Semaphores") {
  const Pair pair;
  sem_t* const both = semaphores(pair.common);
  const auto post = [&](int who) { sem_post(&both[who]); };
  pair.hand_over(post, [&](int who) { sem_wait(&both[who]); });
  pair.hand_over(post, [&](int who) {
    while (sem_trywait(&both[who]) != 0) sched_yield();
  });
  const timespec until = in_a_minute(CLOCK_REALTIME);
  pair.hand_over(post, [&](int who) { sem_timedwait(&both[who], &until); });
}

TEST_CASE("Barriers") {
  const Pair pair;
  pthread_barrier_t* const barrier = pair.common.barrier(1, 0, 2);
  pair.run([&](int converted) {
    for (int turn = 1; turn <= kTurns; ++turn) {
      pair.data[converted] = turn;
      pthread_barrier_wait(barrier);
      if (pair.data[0] != turn || pair.data[1] != turn) return false;
      pthread_barrier_wait(barrier);
    }
    return true;
  });
}

TEST_CASE("Pipes and events") {
  const Pair pair;
  int pipes[2][2];
  REQUIRE((pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0));
  const auto send = [&](int who) { CHECK(write(pipes[who][1], "x", 1) == 1); };
  pair.hand_over(send, [&](int who) {
    char received;
    CHECK(read(pipes[who][0], &received, 1) == 1);
  });
  const int events[2] = {eventfd(0, 0), eventfd(0, 0)};
  pair.hand_over([&](int who) { eventfd_write(events[who], 1); },
                 [&](int who) {
                   pollfd wanted{events[who], POLLIN, 0};
                   CHECK(poll(&wanted, 1, 60'000) == 1);
                   // The poll has transferred everything already, so the read changes nothing.
                   const int seen[2] = {pair.data[0], pair.data[1]};
                   eventfd_t count;
                   eventfd_read(events[who], &count);
                   CHECK((pair.data[0] == seen[0] && pair.data[1] == seen[1]));
                 });
  for (const int file : {pipes[0][0], pipes[0][1], pipes[1][0], pipes[1][1], events[0], events[1]})
    close(file);
}

TEST_CASE("Words that the kernel is asked about") {
  const Pair pair;
  auto* const words = pair.common.at<std::atomic<uint32_t>>(1);
  pair.hand_over(
      [&](int who) {
        // Commits and wakes no thread: the count is the message.
        syscall(SYS_futex, &words[who], FUTEX_WAKE, 1, nullptr, nullptr, 0);
        ++words[who];
        syscall(SYS_futex, &words[who], FUTEX_WAKE, 1, nullptr, nullptr, 0);
      },
      [&](int who) {
        static uint32_t heard[2];
        while (words[who] == heard[who])
          syscall(SYS_futex, &words[who], FUTEX_WAIT, heard[who], nullptr, nullptr, 0);
        ++heard[who];
        syscall(SYS_futex, &words[who], FUTEX_WAKE, 1, nullptr, nullptr, 0);
      });
}

TEST_CASE("Signals") {
  const Pair pair;
  auto* const processes = pair.common.at<std::atomic<pid_t>>(1);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  pair.hand_over(
      [&](int who) {
        while (processes[1 - who] == 0) sched_yield();
        kill(processes[1 - who], SIGUSR1);
      },
      [&](int who) {
        processes[1 - who] = getpid();
        int number = 0;
        sigwait(&signals, &number);
      });
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("Whoever looks again and again sees what was written when both let others go on") {
  const Pair pair;
  pair.hand_over(
      [&](int who) {
        pair.data[200 + who] = pair.data[200 + who] + 1;
        sched_yield();
      },
      [&](int who) {
        static int heard[2];
        ++heard[who];
        const timespec short_time{0, 1000};
        while (pair.data[200 + who] != heard[who]) nanosleep(&short_time, nullptr);
      });
}

TEST_CASE("What was done once is seen by whoever finds that it was") {
  const Pair pair;
  auto* const flag = pair.common.at<pthread_once_t>(1);
  *flag = PTHREAD_ONCE_INIT;
  static volatile int* data;
  data = pair.data;
  pair.run([&](int converted) {
    // The C library would make the second one wait like a thread of the same process.
    constexpr pthread_once_t kDone = 2;
    while (converted == 1 && *static_cast<volatile pthread_once_t*>(flag) != kDone) {
    }
    pthread_once(flag, [] { data[7] = 7; });
    return pair.data[7] == 7;
  });
}

TEST_CASE("A page with something on it that threads meet at is not private") {
  const Pair pair;
  pthread_mutex_t* const mutex = pair.common.mutex(0, 1024);
  CHECK(in_converted_threads(2, [&](size_t, PrivatePages& pages) {
          __libc_single_threaded = false;
          own_pages = &pages;
          if (!pages.isolate(pair.common.page(0)) || !pages.isolate(pair.common.page(2))) return false;
          for (int turn = 0; turn < kTurns; ++turn) {
            pthread_mutex_lock(mutex);
            pair.data[0] = pair.data[0] + 1;
            pthread_mutex_unlock(mutex);
          }
          return !pages.holds(pair.common.page(0)) && pages.holds(pair.common.page(2));
        }) == 2);
  CHECK(pair.data[0] == 2 * kTurns);
}

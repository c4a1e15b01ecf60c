// A thread that waits at a condition while its mutex is moved returns with the mutex.

#include <errno.h>
#include <threads.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "tests/repair/locks/repairer.h"

using namespace prof;
using namespace std::chrono_literals;

namespace {

constexpr unsigned kWaiters = 5;

timespec after(std::chrono::nanoseconds time, clockid_t clock = CLOCK_REALTIME) {
  timespec until;
  clock_gettime(clock, &until);
  const int64_t ns = until.tv_nsec + time.count();
  return {until.tv_sec + ns / 1'000'000'000, ns % 1'000'000'000};
}

// Threads that wait for their turns, and count under the mutex without atomics.
struct Room {
  explicit Room(int kind) : mutex(make_mutex(kind)) {}

  void wait() {
    pthread_mutex_lock(&mutex);
    while (turns == 0) pthread_cond_wait(&condition, &mutex);
    --turns;
    ++woken;
    pthread_mutex_unlock(&mutex);
  }

  alignas(64) pthread_mutex_t mutex;
  alignas(64) pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  unsigned turns = 0;
  unsigned woken = 0;
};

}  // namespace

TEST_CASE("waiters at the moment of the move are woken all at once, or one by one") {
  const int kind = GENERATE(int{PTHREAD_MUTEX_NORMAL}, int{PTHREAD_MUTEX_RECURSIVE},
                            int{PTHREAD_MUTEX_ERRORCHECK}, int{PTHREAD_MUTEX_ADAPTIVE_NP});
  const bool at_once = GENERATE(true, false);
  Room room(kind);
  std::vector<std::thread> waiters;
  for (unsigned i = 0; i < kWaiters; ++i) waiters.emplace_back([&] { room.wait(); });
  wait_for_sleepers(kWaiters);

  Repairer repairer;
  repairer.add(room.mutex);
  REQUIRE(pthread_mutex_lock(&room.mutex) == 0);
  REQUIRE(is_moved(&room.mutex));
  // In use: by this thread, and by those that have waited with it since before the move.
  CHECK(pthread_mutex_destroy(&room.mutex) == EBUSY);
  if (at_once) {
    room.turns = kWaiters;
    pthread_cond_broadcast(&room.condition);
  }
  REQUIRE(pthread_mutex_unlock(&room.mutex) == 0);
  for (unsigned i = 0; !at_once && i < kWaiters; ++i) {
    CHECK(pthread_mutex_destroy(&room.mutex) == EBUSY);
    pthread_mutex_lock(&room.mutex);
    ++room.turns;
    pthread_cond_signal(&room.condition);
    pthread_mutex_unlock(&room.mutex);
    // A woken thread has left before the next one is woken.
    while (pthread_mutex_lock(&room.mutex) == 0 && room.woken <= i) {
      pthread_mutex_unlock(&room.mutex);
      std::this_thread::yield();
    }
    pthread_mutex_unlock(&room.mutex);
  }
  for (std::thread& waiter : waiters) waiter.join();
  CHECK(room.woken == kWaiters);
  CHECK(Repairer::moved() == 1);
  CHECK(pthread_mutex_destroy(&room.mutex) == 0);
  CHECK(pthread_cond_destroy(&room.condition) == 0);
}

TEST_CASE("waiters at the moment of the move that nobody wakes are late, and have the mutex") {
  Room room(PTHREAD_MUTEX_ERRORCHECK);
  Expectations in_threads;
  const auto wait = [&](auto call) {
    pthread_mutex_lock(&room.mutex);
    int error;
    while ((error = call()) == 0) continue;
    in_threads.expect(error == ETIMEDOUT);
    ++room.woken;
    in_threads.expect(pthread_mutex_unlock(&room.mutex) == 0);
  };
  const timespec until = after(300ms), monotonic_until = after(300ms, CLOCK_MONOTONIC);
  std::thread by_time(wait, [&] { return pthread_cond_timedwait(&room.condition, &room.mutex, &until); });
  std::thread by_clock(wait, [&] {
    return pthread_cond_clockwait(&room.condition, &room.mutex, CLOCK_MONOTONIC, &monotonic_until);
  });
  wait_for_sleepers(2);
  Repairer repairer;
  repairer.add(room.mutex);
  pthread_mutex_lock(&room.mutex);
  REQUIRE(is_moved(&room.mutex));
  pthread_mutex_unlock(&room.mutex);
  by_time.join();
  by_clock.join();
  CHECK(room.woken == 2);
  CHECK(in_threads.failed() == 0);
}

TEST_CASE("a wait with a mutex that was moved before is refused as it would be") {
  pthread_mutex_t mutex = make_mutex(PTHREAD_MUTEX_ERRORCHECK);
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  Repairer repairer;
  repairer.add(mutex);
  pthread_mutex_lock(&mutex);
  REQUIRE(is_moved(&mutex));
  const timespec invalid{0, -1};
  CHECK(pthread_cond_timedwait(&condition, &mutex, &invalid) == EINVAL);
  const timespec past{1, 0};
  CHECK(pthread_cond_timedwait(&condition, &mutex, &past) == ETIMEDOUT);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_cond_wait(&condition, &mutex) == EPERM);
  CHECK(pthread_cond_timedwait(&condition, &mutex, &past) == EPERM);
  CHECK(pthread_mutex_destroy(&mutex) == 0);
}

TEST_CASE("a thread that is cancelled in its wait cleans up with the mutex where it is now") {
  const int kind = GENERATE(int{PTHREAD_MUTEX_ERRORCHECK}, int{PTHREAD_MUTEX_RECURSIVE});
  static pthread_mutex_t mutex;
  static pthread_cond_t condition;
  static std::atomic<int> released;
  mutex = make_mutex(kind);
  condition = PTHREAD_COND_INITIALIZER;
  released = -1;
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        pthread_mutex_lock(&mutex);
        pthread_cleanup_push([](void*) { released = pthread_mutex_unlock(&mutex); }, nullptr);
        for (;;) pthread_cond_wait(&condition, &mutex);
        pthread_cleanup_pop(0);
        return nullptr;
      },
      nullptr);
  wait_for_sleepers(1);
  Repairer repairer;
  repairer.add(mutex);
  pthread_mutex_lock(&mutex);
  REQUIRE(is_moved(&mutex));
  pthread_cancel(thread);
  pthread_mutex_unlock(&mutex);
  void* result = nullptr;
  pthread_join(thread, &result);
  CHECK(result == PTHREAD_CANCELED);
  CHECK(released == 0);
  CHECK(pthread_mutex_trylock(&mutex) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_destroy(&mutex) == 0);
}

TEST_CASE("a mutex can be moved as a condition gives it back") {
  Room room(PTHREAD_MUTEX_NORMAL);
  std::thread waiter([&] { room.wait(); });
  wait_for_sleepers(1);
  pthread_mutex_lock(&room.mutex);
  room.turns = 1;
  pthread_mutex_unlock(&room.mutex);
  Repairer repairer;
  repairer.add(room.mutex);
  pthread_cond_signal(&room.condition);
  waiter.join();
  CHECK(is_moved(&room.mutex));
  CHECK(pthread_mutex_trylock(&room.mutex) == 0);
}

TEST_CASE("C11's mutexes and conditions") {
  mtx_t mutex;
  REQUIRE(mtx_init(&mutex, mtx_timed) == thrd_success);
  cnd_t condition;
  REQUIRE(cnd_init(&condition) == thrd_success);
  bool goes_on = false;
  Expectations in_threads;
  std::thread waiter([&] {
    mtx_lock(&mutex);
    while (!goes_on) cnd_wait(&condition, &mutex);
    mtx_unlock(&mutex);
  });
  const timespec until = after(300ms);
  std::thread late([&] {
    mtx_lock(&mutex);
    while (cnd_timedwait(&condition, &mutex, &until) == thrd_success) continue;
    in_threads.expect(mtx_unlock(&mutex) == thrd_success);
  });
  wait_for_sleepers(2);
  Repairer repairer;
  repairer.add(mutex);
  CHECK(mtx_trylock(&mutex) == thrd_success);
  REQUIRE(is_moved(&mutex));
  const timespec past{1, 0};
  CHECK(elsewhere([&] { return mtx_trylock(&mutex); }) == thrd_busy);
  CHECK(elsewhere([&] { return mtx_timedlock(&mutex, &past); }) == thrd_timedout);
  goes_on = true;
  CHECK(mtx_unlock(&mutex) == thrd_success);
  cnd_broadcast(&condition);
  waiter.join();
  late.join();
  CHECK(in_threads.failed() == 0);
  CHECK(mtx_lock(&mutex) == thrd_success);
  CHECK(mtx_unlock(&mutex) == thrd_success);
  mtx_destroy(&mutex);
  CHECK(!is_moved(&mutex));
  cnd_destroy(&condition);
}

TEST_CASE("C++'s mutexes and conditions are moved while threads use them") {
  struct Shared {
    std::mutex mutex;
    std::recursive_mutex recursive;
    std::timed_mutex timed;
    std::shared_mutex shared;
    std::mutex queue_mutex;
  };
  const auto shared = std::make_unique<Shared>();
  std::condition_variable condition;
  std::condition_variable_any any;
  constexpr unsigned kTurns = 20'000;
  unsigned by_mutex = 0, by_recursive = 0, by_timed = 0, by_shared = 0, queued = 0, taken = 0;
  Repairer repairer;
  const auto work = [&] {
    for (unsigned i = 0; i < kTurns; ++i) {
      std::scoped_lock(shared->mutex), ++by_mutex;
      {
        const std::lock_guard first(shared->recursive);
        const std::lock_guard second(shared->recursive);
        ++by_recursive;
      }
      if (std::unique_lock lock(shared->timed, 1h); lock) ++by_timed;
      {
        const std::unique_lock lock(shared->shared);
        ++by_shared;
      }
      const std::unique_lock lock(shared->queue_mutex);
      ++queued;
      condition.notify_one();
      any.notify_one();
    }
  };
  const auto take = [&](auto& at) {
    for (unsigned i = 0; i < kTurns; ++i) {
      std::unique_lock lock(shared->queue_mutex);
      while (!at.wait_for(lock, 1ms, [&] { return queued > 0; })) continue;
      --queued;
      ++taken;
    }
  };
  std::vector<std::thread> threads;
  threads.emplace_back(work);
  threads.emplace_back(work);
  threads.emplace_back([&] { take(condition); });
  threads.emplace_back([&] { take(any); });
  for (unsigned i = 0; i < sizeof(Shared); i += 64) {
    std::this_thread::sleep_for(2ms);
    repairer.add(reinterpret_cast<char*>(shared.get()) + i, 1);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(by_mutex == 2 * kTurns);
  CHECK(by_recursive == 2 * kTurns);
  CHECK(by_timed == 2 * kTurns);
  CHECK(by_shared == 2 * kTurns);
  CHECK(taken == 2 * kTurns);
  shared->mutex.lock();
  CHECK(is_moved(shared->mutex.native_handle()));
  shared->mutex.unlock();
}

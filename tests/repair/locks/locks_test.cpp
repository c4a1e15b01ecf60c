// Threads exclude each other before, while and after their mutexes are moved.

#include <errno.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "tests/repair/locks/repairer.h"

using namespace prof;
using hpcrun::LockDeclined;

namespace {

constexpr int kKinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                          PTHREAD_MUTEX_ADAPTIVE_NP};

// Adjacent, as in programs.
struct Pool {
  static constexpr unsigned kMutexes = 24;
  Pool() {
    for (unsigned i = 0; i < kMutexes; ++i) mutexes[i] = make_mutex(kKinds[i % 4]);
  }
  alignas(64) pthread_mutex_t mutexes[kMutexes];
  uint64_t counts[kMutexes] = {};  // each under its mutex
};

// Takes a mutex in one of the possible ways.
int take(pthread_mutex_t* mutex, uint64_t way) {
  const timespec past{1, 0}, future{4'000'000'000, 0};
  int error;
  switch (way % 5) {
    case 0:
      return pthread_mutex_lock(mutex);
    case 1:
      while ((error = pthread_mutex_trylock(mutex)) == EBUSY) std::this_thread::yield();
      return error;
    case 2:
      while ((error = pthread_mutex_timedlock(mutex, &past)) == ETIMEDOUT) std::this_thread::yield();
      return error;
    case 3:
      return pthread_mutex_timedlock(mutex, &future);
    default:
      return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &future);
  }
}

}  // namespace

TEST_CASE("nothing is moved that lies on no contended line, or after the repair has ended") {
  alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  alignas(64) pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
  {
    Repairer repairer;
    repairer.add(other);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  pthread_mutex_lock(&other);
  pthread_mutex_unlock(&other);
  CHECK(!is_moved(&mutex));
  CHECK(!is_moved(&other));
}

TEST_CASE("a mutex goes on to work where it was moved to after the repair has ended") {
  alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  {
    Repairer repairer;
    repairer.add(mutex);
    pthread_mutex_lock(&mutex);
  }
  CHECK(is_moved(&mutex));
  CHECK(elsewhere([&] { return pthread_mutex_trylock(&mutex); }) == EBUSY);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(elsewhere([&] { return pthread_mutex_trylock(&mutex); }) == 0);
}

TEST_CASE("a moved mutex is not written to any more") {
  alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  Repairer repairer;
  repairer.add(mutex);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  const pthread_mutex_t before = mutex;
  pthread_mutex_lock(&mutex);
  CHECK(memcmp(&before, &mutex, sizeof mutex) == 0);
  CHECK(elsewhere([&] { return pthread_mutex_trylock(&mutex); }) == EBUSY);
  CHECK(memcmp(&before, &mutex, sizeof mutex) == 0);
  pthread_mutex_unlock(&mutex);
  CHECK(memcmp(&before, &mutex, sizeof mutex) == 0);
}

TEST_CASE("a mutex that reaches into a contended line with what is written of it is moved") {
  alignas(64) char memory[192] = {};
  auto* const mutex = reinterpret_cast<pthread_mutex_t*>(memory + 56);
  *mutex = PTHREAD_MUTEX_INITIALIZER;
  Repairer repairer;
  repairer.add(memory + 64, 64);
  pthread_mutex_lock(mutex);
  CHECK(is_moved(mutex));
  pthread_mutex_unlock(mutex);
}

TEST_CASE("a mutex that is held several times is moved with its count") {
  alignas(64) pthread_mutex_t mutex = make_mutex(PTHREAD_MUTEX_RECURSIVE);
  const auto others = [&] {
    return elsewhere([&] {
      const int error = pthread_mutex_trylock(&mutex);
      if (!error) pthread_mutex_unlock(&mutex);
      return error;
    });
  };
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
  Repairer repairer;
  repairer.add(mutex);
  pthread_mutex_lock(&mutex);
  REQUIRE(is_moved(&mutex));
  for (int depth = 3; depth > 0; --depth) {
    CHECK(others() == EBUSY);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
  }
  CHECK(others() == 0);
  CHECK(pthread_mutex_unlock(&mutex) == EPERM);
  CHECK(pthread_mutex_destroy(&mutex) == 0);
}

TEST_CASE("a thread that waits for a mutex that is held several times follows it") {
  alignas(64) pthread_mutex_t mutex = make_mutex(PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_lock(&mutex);
  std::atomic<bool> has_it{false};
  std::thread waiter([&] {
    pthread_mutex_lock(&mutex);
    has_it = true;
    pthread_mutex_unlock(&mutex);
  });
  wait_for_sleepers(1);
  Repairer repairer;
  repairer.add(mutex);
  pthread_mutex_lock(&mutex);
  REQUIRE(is_moved(&mutex));
  CHECK(!has_it);
  pthread_mutex_unlock(&mutex);
  CHECK(!has_it);
  pthread_mutex_unlock(&mutex);
  waiter.join();
  CHECK(has_it);
}

TEST_CASE("threads that wait for a mutex as it is moved follow it") {
  const int kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
  alignas(64) pthread_mutex_t mutex = make_mutex(kind);
  pthread_mutex_lock(&mutex);
  constexpr unsigned kThreads = 6;
  unsigned count = 0;
  Expectations in_threads;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      const timespec future{4'000'000'000, 0};
      in_threads.expect((i % 2 ? pthread_mutex_lock(&mutex) : pthread_mutex_timedlock(&mutex, &future)) == 0);
      ++count;
      in_threads.expect(pthread_mutex_unlock(&mutex) == 0);
    });
  wait_for_sleepers(kThreads);
  Repairer repairer;
  repairer.add(mutex);
  pthread_mutex_unlock(&mutex);
  for (std::thread& thread : threads) thread.join();
  CHECK(count == kThreads);
  CHECK(in_threads.failed() == 0);
  CHECK(Repairer::moved() == 1);
  CHECK(is_moved(&mutex));
  CHECK(pthread_mutex_destroy(&mutex) == 0);
}

TEST_CASE("threads exclude each other while lines are found one after the other") {
  const auto pool = std::make_unique<Pool>();
  Repairer repairer;
  constexpr unsigned kThreads = 4, kTurns = 60'000;
  Expectations in_threads;
  uint64_t done[kThreads][Pool::kMutexes] = {};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (unsigned i = 0; i < kTurns; ++i) {
        const uint64_t which = random() % Pool::kMutexes;
        const uint64_t depth = which % 4 == 1 ? 1 + random() % 3 : 1;
        for (unsigned d = 0; d < depth; ++d) in_threads.expect(take(&pool->mutexes[which], random()) == 0);
        pool->counts[which] += 1;
        done[t][which] += 1;
        for (unsigned d = 0; d < depth; ++d)
          in_threads.expect(pthread_mutex_unlock(&pool->mutexes[which]) == 0);
      }
    });
  for (size_t at = 0; at < sizeof pool->mutexes; at += 64) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    repairer.add(reinterpret_cast<char*>(pool->mutexes) + at, 1);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(in_threads.failed() == 0);
  for (unsigned which = 0; which < Pool::kMutexes; ++which) {
    uint64_t expected = 0;
    for (const auto& of_thread : done) expected += of_thread[which];
    CHECK(pool->counts[which] == expected);
    pthread_mutex_lock(&pool->mutexes[which]);
    CHECK(is_moved(&pool->mutexes[which]));
    pthread_mutex_unlock(&pool->mutexes[which]);
    CHECK(pthread_mutex_destroy(&pool->mutexes[which]) == 0);
  }
  CHECK(Repairer::moved() == Pool::kMutexes);
}

TEST_CASE("locks that cannot be moved stay, and are reported once") {
  // In a place where none was moved before.
  alignas(64) static pthread_mutex_t mutexes[3];
  static pthread_spinlock_t spin;
  pthread_mutexattr_t attributes;
  const auto make = [&](pthread_mutex_t& mutex, auto set) {
    pthread_mutexattr_init(&attributes);
    set();
    REQUIRE(pthread_mutex_init(&mutex, &attributes) == 0);
  };
  make(mutexes[0], [&] { pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST); });
  make(mutexes[1], [&] { pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT); });
  make(mutexes[2], [&] { pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED); });
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  Repairer repairer;
  repairer.add(mutexes);
  repairer.add(spin);
  for (int i = 0; i < 3; ++i) {
    for (pthread_mutex_t& mutex : std::span(mutexes, 3)) {
      CHECK(pthread_mutex_lock(&mutex) == 0);
      CHECK(elsewhere([&] { return pthread_mutex_trylock(&mutex); }) == EBUSY);
      CHECK(pthread_mutex_unlock(&mutex) == 0);
      CHECK(!is_moved(&mutex));
    }
    CHECK(pthread_spin_lock(&spin) == 0);
    CHECK(pthread_spin_unlock(&spin) == 0);
  }
  CHECK(Repairer::moved() == 0);
  CHECK(Repairer::declined(LockDeclined::Robust) == 1);
  CHECK(Repairer::declined(LockDeclined::Priority) == 1);
  CHECK(Repairer::declined(LockDeclined::Shared) == 1);
  CHECK(Repairer::declined(LockDeclined::Spin) == 1);
}

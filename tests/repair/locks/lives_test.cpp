// Mutexes that are moved have the lifetimes of others: released, created again at the same address, copied,
// forked.

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "tests/repair/locks/repairer.h"

using namespace prof;

namespace {

void lock_moved(pthread_mutex_t* mutex) {
  REQUIRE(pthread_mutex_lock(mutex) == 0);
  REQUIRE(is_moved(mutex));
}

int lock_and_unlock(pthread_mutex_t* mutex) {
  if (const int error = pthread_mutex_trylock(mutex)) return error;
  return pthread_mutex_unlock(mutex);
}

// Returns the result of `does` in the child of a fork.
template <typename Do>
int in_child(Do does) {
  const pid_t child = fork();
  if (child == 0) _exit(does());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a mutex that was moved and destroyed is none until it is made anew, and can be moved again") {
  alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  Repairer repairer;
  repairer.add(mutex);
  for (int life = 0; life < 3; ++life) {
    lock_moved(&mutex);
    CHECK(pthread_mutex_destroy(&mutex) == EBUSY);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
    CHECK(!is_moved(&mutex));
    CHECK(pthread_mutex_trylock(&mutex) == EINVAL);
    if (life % 2)
      pthread_mutex_init(&mutex, nullptr);
    else
      mutex = PTHREAD_MUTEX_INITIALIZER;
  }
  CHECK(Repairer::moved() == 3);
}

TEST_CASE("a mutex that is made anew over a moved one begins free, whatever became of that") {
  alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  Repairer repairer;
  repairer.add(mutex);
  lock_moved(&mutex);
  const int way = GENERATE(0, 1, 2);
  if (way == 0) pthread_mutex_init(&mutex, nullptr);
  if (way == 1) memset(static_cast<void*>(&mutex), 0, sizeof mutex);
  if (way == 2) new (&mutex) std::mutex;
  CHECK(!is_moved(&mutex));
  CHECK(elsewhere([&] { return lock_and_unlock(&mutex); }) == 0);
  CHECK(is_moved(&mutex));
  CHECK(elsewhere([&] { return lock_and_unlock(&mutex); }) == 0);
}

TEST_CASE("memory that held moved mutexes can hold anything") {
  constexpr size_t kBytes = 4096;
  Repairer repairer;
  const auto map = [] {
    return mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  };
  void* const memory = map();
  repairer.add(memory, kBytes);
  auto* const mutex = static_cast<pthread_mutex_t*>(memory);
  lock_moved(mutex);
  memset(memory, 0xa5, kBytes);
  *mutex = PTHREAD_MUTEX_INITIALIZER;
  lock_moved(mutex);
  munmap(memory, kBytes);
  REQUIRE(mmap(memory, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
          memory);
  lock_moved(mutex);
  CHECK(pthread_mutex_unlock(mutex) == 0);
  munmap(memory, kBytes);
}

TEST_CASE("a mutex in memory that processes share stays, whether it says so or not") {
  constexpr size_t kBytes = 2 * 4096;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const mutex = reinterpret_cast<pthread_mutex_t*>(static_cast<char*>(memory) + 4096 + 640);
  Repairer repairer;
  repairer.add(memory, kBytes);
  for (int i = 0; i < 3; ++i) {
    CHECK(pthread_mutex_lock(mutex) == 0);
    CHECK(!is_moved(mutex));
    CHECK(in_child([&] { return pthread_mutex_trylock(mutex); }) == EBUSY);
    CHECK(in_child([&] { return pthread_mutex_unlock(mutex); }) == 0);
  }
  CHECK(Repairer::moved() == 0);
  CHECK(Repairer::declined(hpcrun::LockDeclined::Shared) == 1);
  // The owner of the memory was determined once, so a mutex that is created there later stays, too.
  REQUIRE(mmap(memory, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
          memory);
  CHECK(pthread_mutex_lock(mutex) == 0);
  CHECK(!is_moved(mutex));
  CHECK(pthread_mutex_unlock(mutex) == 0);
  CHECK(Repairer::declined(hpcrun::LockDeclined::Shared) == 1);
  munmap(memory, kBytes);
}

TEST_CASE("a copy of a moved mutex is a mutex of its own") {
  alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  alignas(64) pthread_mutex_t copy;
  Repairer repairer;
  repairer.add(mutex);
  lock_moved(&mutex);
  memcpy(&copy, &mutex, sizeof mutex);
  CHECK(!is_moved(&copy));
  CHECK(pthread_mutex_lock(&copy) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(elsewhere([&] { return lock_and_unlock(&mutex); }) == 0);
  CHECK(elsewhere([&] { return pthread_mutex_trylock(&copy); }) == EBUSY);
  CHECK(pthread_mutex_unlock(&copy) == 0);
}

TEST_CASE("a forked child has its own copy of what its parent held, as without the move") {
  const int kind =
      GENERATE(int{PTHREAD_MUTEX_NORMAL}, int{PTHREAD_MUTEX_RECURSIVE}, int{PTHREAD_MUTEX_ERRORCHECK});
  alignas(64) pthread_mutex_t moved = make_mutex(kind);
  alignas(64) pthread_mutex_t native = make_mutex(kind);
  Repairer repairer;
  repairer.add(moved);
  lock_moved(&moved);
  native_mutex().lock(&native);
  const auto results = [](const NativeMutex& calls, pthread_mutex_t* mutex) {
    const bool was_busy = calls.trylock(mutex) == EBUSY;
    const bool was_refused = calls.unlock(mutex) == EPERM;
    const bool is_free = calls.trylock(mutex) == 0;
    return was_busy | was_refused << 1 | is_free << 2;
  };
  const int expected = in_child([&] { return results(native_mutex(), &native); });
  CHECK(in_child([&] { return results(our_mutex(), &moved); }) == expected);
  CHECK(expected != -1);
  // The child's changes are its own.
  CHECK(elsewhere([&] { return pthread_mutex_trylock(&moved); }) == EBUSY);
  CHECK(pthread_mutex_unlock(&moved) == 0);
  CHECK(in_child([&] { return lock_and_unlock(&moved); }) == 0);
}

TEST_CASE("a child moves mutexes for itself") {
  alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  Repairer repairer;
  repairer.add(mutex);
  CHECK(in_child([&] {
          pthread_mutex_lock(&mutex);
          const bool is_there = is_moved(&mutex);
          pthread_mutex_unlock(&mutex);
          return is_there ? lock_and_unlock(&mutex) : -1;
        }) == 0);
  CHECK(!is_moved(&mutex));
}

TEST_CASE("objects with mutexes come and go in contended lines") {
  // Like objects of programs that never destroy their mutexes.
  struct Object {
    std::mutex mutex;
    unsigned count = 0;
  };
  constexpr unsigned kObjects = 8, kThreads = 3, kLives = 300;
  alignas(64) static unsigned char memory[kObjects * sizeof(Object)];
  Repairer repairer;
  repairer.add(memory);
  for (unsigned life = 0; life < kLives; ++life) {
    Object* const objects = reinterpret_cast<Object*>(memory);
    for (unsigned i = 0; i < kObjects; ++i) new (&objects[i]) Object;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t)
      threads.emplace_back([=] {
        for (unsigned i = 0; i < 10 * kObjects; ++i) {
          const std::lock_guard lock(objects[i % kObjects].mutex);
          ++objects[i % kObjects].count;
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (unsigned i = 0; i < kObjects; ++i) REQUIRE(objects[i].count == 10 * kThreads);
  }
  CHECK(Repairer::moved() == kLives * kObjects);
}

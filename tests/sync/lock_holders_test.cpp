// The lock shows which thread has it. Threads that wait for each other are found by the last of them.

#include "hpcrun/sync/lock_holders.h"

#include <pthread.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "hpcrun/sync/shadow_lock.h"

using namespace hpcrun;

namespace {

struct Lock {
  // Acts as if the thread had it.
  void give(int thread) { mutex.__data.__owner = thread; }
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};

std::vector<int> circle_of(const LockHolders& holders, int thread, const Lock& lock) {
  std::vector<int> found;
  holders.if_circle(thread, &lock.mutex, LockKind::Mutex,
                    [&](const void*, LockKind, int holder) { found.push_back(holder); });
  return found;
}

}  // namespace

TEST_CASE("glibc's locks say who has them") {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  CHECK(holder_of(&mutex, LockKind::Mutex, true) == 0);
  pthread_mutex_lock(&mutex);
  CHECK(holder_of(&mutex, LockKind::Mutex, true) == gettid());
  CHECK(holder_of(&mutex, LockKind::Mutex, false) == gettid());
  pthread_mutex_unlock(&mutex);
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_wrlock(&lock);
  CHECK(holder_of(&lock, LockKind::ReadWriteLock, true) == gettid());
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_rdlock(&lock);
  CHECK(holder_of(&lock, LockKind::ReadWriteLock, true) == 0);
  pthread_rwlock_unlock(&lock);
  CHECK(holder_of(&mutex, LockKind::SpinLock, true) == 0);
}

TEST_CASE("a mutex that was moved to another line is held by whom that says, if it is its line") {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  ShadowLock shadow;
  shadow.mutex.__data.__owner = 17;
  shadow.original = &mutex;
  mutex.__data.__list.__next = reinterpret_cast<decltype(__pthread_mutex_s::__list.__next)>(&shadow);
  CHECK(holder_of(&mutex, LockKind::Mutex, true) == 17);
  CHECK(holder_of(&mutex, LockKind::Mutex, false) == 17);
  const pthread_mutex_t copy = mutex;
  CHECK(holder_of(&copy, LockKind::Mutex, true) == 0);
  mutex.__data.__list.__next = reinterpret_cast<decltype(__pthread_mutex_s::__list.__next)>(uintptr_t{64});
  CHECK(holder_of(&mutex, LockKind::Mutex, true) == 0);
}

TEST_CASE("so is a read-write lock by its writer") {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  ShadowLock shadow;
  shadow.read_write = PTHREAD_RWLOCK_INITIALIZER;
  shadow.read_write.__data.__cur_writer = 18;
  shadow.original = &lock;
  *way_from(&lock) = reinterpret_cast<uintptr_t>(&shadow);
  CHECK(holder_of(&lock, LockKind::ReadWriteLock, true) == 18);
  shadow.original = nullptr;
  CHECK(holder_of(&lock, LockKind::ReadWriteLock, false) == 0);
}

TEST_CASE("a lock whose memory is gone has no holder") {
  CHECK(holder_of(reinterpret_cast<const void*>(0x10), LockKind::Mutex, false) == 0);
}

TEST_CASE("a circle is found by the wait that closes it, and by none before") {
  const auto holders = std::make_unique<LockHolders>();
  Lock a, b, c;
  a.give(1);
  b.give(2);
  c.give(3);
  holders->begin(1, &b.mutex, LockKind::Mutex);
  CHECK(circle_of(*holders, 1, b).empty());
  const uint32_t second = holders->begin(2, &c.mutex, LockKind::Mutex);
  CHECK(circle_of(*holders, 2, c).empty());
  holders->begin(3, &a.mutex, LockKind::Mutex);
  CHECK(circle_of(*holders, 3, a) == std::vector{1, 2, 3});
  holders->end(second);
  CHECK(circle_of(*holders, 3, a).empty());
}

TEST_CASE("a thread that waits for its own lock is a circle, one that waits for a circle is not in it") {
  const auto holders = std::make_unique<LockHolders>();
  Lock own, other;
  own.give(7);
  holders->begin(7, &own.mutex, LockKind::Mutex);
  CHECK(circle_of(*holders, 7, own) == std::vector{7});
  other.give(7);
  holders->begin(8, &own.mutex, LockKind::Mutex);
  CHECK(circle_of(*holders, 8, own).empty());
}

TEST_CASE("threads whose ids fall together are distinguished") {
  const auto holders = std::make_unique<LockHolders>();
  Lock a, b;
  a.give(5 + 4096);
  b.give(5);
  const uint32_t first = holders->begin(5, &a.mutex, LockKind::Mutex);
  holders->begin(5 + 4096, &b.mutex, LockKind::Mutex);
  CHECK(circle_of(*holders, 5 + 4096, b) == std::vector{5, 5 + 4096});
  holders->end(first);
  int waiting = 0;
  holders->for_each([&](const void*, LockKind, int) { ++waiting; });
  CHECK(waiting == 1);
  holders->reset_after_fork();
  holders->for_each([&](const void*, LockKind, int) { FAIL("still held"); });
}

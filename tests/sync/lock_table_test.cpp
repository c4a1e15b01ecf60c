// Waiting for a lock is counted once, for the thread that had the lock meanwhile.

#include "hpcrun/sync/lock_table.h"

#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

using namespace hpcrun;

namespace {

struct Table {
  Table() { REQUIRE(table->attach()); }
  ~Table() { table->reset_after_fork(); }
  std::unique_ptr<LockTable> table = std::make_unique<LockTable>();
};

}  // namespace

TEST_CASE("a wait through several holders is shared among them") {
  const Table holder;
  int mutex = 0;
  WaitedLock& lock = *holder.table->find_or_add(&mutex);
  lock.begin_wait(1'000);
  CHECK(lock.is_waited_for());
  CHECK(lock.take(1'300) == 300);  // the first releases it
  lock.begin_wait(1'400);
  CHECK(lock.take(1'500) == 300);  // another one got it: 200 for one thread, 100 for the other
  lock.end_wait(1'600);            // this thread has it now; the waiting since belongs to the last holder
  CHECK(lock.take(1'600) == 200);
  CHECK(lock.take(2'000) == 400);
  lock.end_wait(2'000);
  CHECK_FALSE(lock.is_waited_for());
  CHECK(lock.take(9'000) == 0);
}

TEST_CASE("times beyond 2^48 ns do not matter") {
  const Table holder;
  int mutex = 0;
  WaitedLock& lock = *holder.table->find_or_add(&mutex);
  const uint64_t now = (uint64_t{1} << 48) - 50;
  lock.begin_wait(now);
  lock.begin_wait(now + 10);
  CHECK(lock.take(now + 100) == 190);
  lock.end_wait(now + 100);
  lock.end_wait(now + 200);
  CHECK(lock.take(now + 200) == 100);
}

TEST_CASE("the last holder is known only where it released the lock during the wait") {
  const Table holder;
  int mutex = 0;
  WaitedLock& lock = *holder.table->find_or_add(&mutex);
  CHECK(lock.last_holder(1).thread == LockHolder::kUnknown);
  lock.set_last_holder({7, 42}, 500);
  CHECK(lock.last_holder(400).thread == 7);
  CHECK(lock.last_holder(400).node == 42);
  CHECK(lock.last_holder(501).thread == LockHolder::kUnknown);
}

TEST_CASE("locks are distinguished, and more than there is room for are refused") {
  const Table holder;
  std::vector<int> locks(4 * LockTable::kLocks);
  size_t known = 0;
  for (const int& lock : locks)
    if (WaitedLock* const found = holder.table->find_or_add(&lock)) {
      ++known;
      CHECK(holder.table->find(&lock) == found);
    }
  CHECK(known <= LockTable::kLocks);
  CHECK(known > LockTable::kLocks / 2);
  CHECK(holder.table->was_full());
}

TEST_CASE("nothing is taken twice or lost when threads take at once") {
  const Table holder;
  int mutex = 0;
  WaitedLock& lock = *holder.table->find_or_add(&mutex);
  constexpr uint64_t kSteps = 100'000;
  constexpr unsigned kThreads = 4;
  lock.begin_wait(0);
  std::vector<uint64_t> taken(kThreads);
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        for (uint64_t now = 1 + i; now <= kSteps; now += kThreads) taken[i] += lock.take(now);
      });
  }
  lock.end_wait(kSteps);
  uint64_t sum = 0;
  for (const uint64_t one : taken) sum += one;
  CHECK(sum == kSteps);
}

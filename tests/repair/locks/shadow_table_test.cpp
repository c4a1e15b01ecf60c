// Each mutex has one shadow permanently, which is found only at the mutex's original address.

#include "repair/locks/shadow_table.h"

#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <vector>

using namespace hpcrun;

namespace {

using Node = decltype(__pthread_mutex_s::__list.__next);

// The state that a move leaves.
void lead_to(pthread_mutex_t& mutex, ShadowLock* shadow) {
  shadow->original = &mutex;
  mutex.__data.__list.__next = reinterpret_cast<Node>(shadow);
}

}  // namespace

TEST_CASE("a mutex that was not moved, and one with garbage in it, have no shadow") {
  const auto table = std::make_unique<ShadowTable>();
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  CHECK(table->find(&mutex) == nullptr);
  ShadowLock* const shadow = table->take(&mutex);
  for (const uintptr_t garbage :
       {uintptr_t{1}, UINTPTR_MAX, uintptr_t{0x7fff'ffff'f000}, reinterpret_cast<uintptr_t>(shadow) + 8,
        reinterpret_cast<uintptr_t>(shadow) - 64, reinterpret_cast<uintptr_t>(shadow)}) {
    mutex.__data.__list.__next = reinterpret_cast<Node>(garbage);
    CHECK(table->find(&mutex) == nullptr);
  }
}

TEST_CASE("a moved mutex is found at its shadow, and a copy of it is not") {
  const auto table = std::make_unique<ShadowTable>();
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  ShadowLock* const shadow = table->take(&mutex);
  lead_to(mutex, shadow);
  CHECK(table->find(&mutex) == shadow);
  const pthread_mutex_t copy = mutex;
  CHECK(table->find(&copy) == nullptr);
}

TEST_CASE("an address keeps its shadow, and shadows are on lines of their own") {
  const auto table = std::make_unique<ShadowTable>();
  std::vector<pthread_mutex_t> mutexes(1000);
  std::set<ShadowLock*> seen;
  for (const pthread_mutex_t& mutex : mutexes) {
    ShadowLock* const shadow = table->take(&mutex);
    REQUIRE(shadow);
    CHECK(reinterpret_cast<uintptr_t>(shadow) % 64 == 0);
    CHECK(seen.insert(shadow).second);
  }
  for (const pthread_mutex_t& mutex : mutexes) CHECK(seen.count(table->take(&mutex)) == 1);
}

TEST_CASE("with all shadows taken a further mutex gets none, and the others keep theirs") {
  const auto table = std::make_unique<ShadowTable>();
  std::vector<pthread_mutex_t> mutexes(ShadowTable::kMaxShadows + 2);
  for (uint32_t i = 0; i < ShadowTable::kMaxShadows; ++i) REQUIRE(table->take(&mutexes[i]));
  CHECK(table->take(&mutexes[ShadowTable::kMaxShadows]) == nullptr);
  CHECK(table->is_first_refusal(&mutexes[ShadowTable::kMaxShadows]));
  CHECK(!table->is_first_refusal(&mutexes[ShadowTable::kMaxShadows]));
  CHECK(table->take(&mutexes[0]));
}

TEST_CASE("a lock is refused once") {
  const auto table = std::make_unique<ShadowTable>();
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  CHECK(table->is_first_refusal(&mutex));
  CHECK(!table->is_first_refusal(&mutex));
  // A mutex that is created again at the same address may be of a kind that can be moved.
  ShadowLock* const shadow = table->take(&mutex);
  REQUIRE(shadow);
  CHECK(table->take(&mutex) == shadow);
  CHECK(!table->is_first_refusal(&mutex));
}

TEST_CASE("what is left where it is stays so, and is reported once") {
  const auto table = std::make_unique<ShadowTable>();
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
  CHECK(!table->is_left(&mutex));
  CHECK(table->is_first_refusal(&mutex));
  CHECK(!table->is_left(&mutex));
  table->leave(&mutex);
  CHECK(table->is_left(&mutex));
  CHECK(table->take(&mutex) == nullptr);
  CHECK(!table->is_first_refusal(&mutex));
  CHECK(!table->is_left(&other));
}

#include "repair/isolate/private_pages.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "tests/repair/isolate/twin_processes.h"

using namespace hpcrun;
using namespace hpcrun::test;

namespace {

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

}  // namespace

TEST_CASE("What is stored on a private page is seen by others when both have committed, and not before") {
  const CommonPages common(2);
  auto* const data = common.at<volatile uint64_t>(0);
  data[5] = 5;
  pthread_barrier_t* const barrier = common.barrier(1, 0, 2);
  const auto twin = [&](size_t number, PrivatePages& pages) {
    bool right = pages.isolate(common.page(0) + 123) && pages.holds(common.page(0)) && pages.count() == 1;
    right &= data[5] == 5;
    pthread_barrier_wait(barrier);
    data[number] = 10 + number;
    pthread_barrier_wait(barrier);
    right &= data[1 - number] == 0;
    pages.commit();
    right &= data[1 - number] == 0 || data[1 - number] == 11 - number;
    pthread_barrier_wait(barrier);
    pages.commit();
    right &= data[0] == 10 && data[1] == 11 && data[5] == 5;
    return right && pages.merged() == 1 && pages.commits() == 2;
  };
  CHECK(in_twins(2, twin) == 2);
  CHECK(data[0] == 10);
  CHECK(data[1] == 11);
}

TEST_CASE("Counters side by side, and one under a lock, end as if they were common") {
  const CommonPages common(2);
  auto* const bytes = common.at<volatile uint8_t>(0);
  auto* const counter = common.at<volatile uint32_t>(0, 64);
  auto* const own = common.at<volatile uint64_t>(0, 128);
  pthread_mutex_t* const mutex = common.mutex(1);
  constexpr uint32_t kTurns = 20'000;
  constexpr size_t kTwins = 3;
  const auto twin = [&](size_t number, PrivatePages& pages) {
    if (!pages.isolate(common.page(0))) return false;
    for (uint32_t turn = 1; turn <= kTurns; ++turn) {
      for (int i = 0; i < 10; ++i) own[number] = own[number] + 1;
      bytes[number] = static_cast<uint8_t>(turn);
      pthread_mutex_lock(mutex);
      pages.commit();
      *counter = *counter + 1;
      pages.commit();
      pthread_mutex_unlock(mutex);
    }
    pages.share_all();
    return pages.count() == 0 && own[number] == 10 * kTurns;
  };
  CHECK(in_twins(kTwins, twin) == kTwins);
  CHECK(*counter == kTwins * kTurns);
  for (size_t number = 0; number < kTwins; ++number) {
    CHECK(own[number] == 10 * kTurns);
    CHECK(bytes[number] == static_cast<uint8_t>(kTurns));
  }
}

TEST_CASE("A page that is shared again has what was written, and is common") {
  const CommonPages common(3);
  auto* const data = common.at<volatile uint32_t>(0);
  const auto twin = [&](size_t, PrivatePages& pages) {
    bool right = pages.isolate(common.page(0)) && pages.isolate(common.page(2));
    data[0] = 1;
    pages.share(common.page(1));  // is not the twin's
    right &= pages.count() == 2;
    pages.share(common.page(0) + 8);
    right &= pages.count() == 1 && !pages.holds(common.page(0)) && pages.holds(common.page(2));
    data[1] = 2;
    return right;
  };
  CHECK(in_twins(1, twin) == 1);
  CHECK(data[0] == 1);
  CHECK(data[1] == 2);
}

TEST_CASE("There are so many private pages and no more, and places are used again") {
  const CommonPages common(kMaxPrivatePages + 1);
  const auto twin = [&](size_t, PrivatePages& pages) {
    bool right = true;
    for (uint32_t turn = 0; turn < 3; ++turn) {
      for (uint32_t page = 0; page < kMaxPrivatePages; ++page) {
        right &= pages.isolate(common.page(page));
        *common.at<volatile uint32_t>(page) = turn * 100 + page;
      }
      right &= !pages.isolate(common.page(kMaxPrivatePages)) && pages.isolate(common.page(7));
      pages.share_all();
    }
    return right;
  };
  CHECK(in_twins(1, twin) == 1);
  for (uint32_t page = 0; page < kMaxPrivatePages; ++page) CHECK(*common.at<uint32_t>(page) == 200 + page);
}

TEST_CASE("Commits need no page faults") {
  const CommonPages common(1);
  const auto twin = [&](size_t, PrivatePages& pages) {
    if (!pages.isolate(common.page(0))) return false;
    auto* const data = common.at<volatile uint32_t>(0);
    const auto commit = [&](uint32_t turn) {
      data[turn % 1000] = turn;
      pages.commit();
    };
    commit(1);
    const long before = page_faults();
    for (uint32_t turn = 2; turn < 1000; ++turn) commit(turn);
    return page_faults() - before < 10 && pages.merged() == 999;
  };
  CHECK(in_twins(1, twin) == 1);
}

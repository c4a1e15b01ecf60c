// Which releases are checked: all of those that were added and not removed, and few others.

#include "hpcrun/heap/known_beginnings.h"

#include <atomic>
#include <catch2/catch.hpp>

#include <memory>
#include <thread>
#include <vector>

using hpcrun::KnownBeginnings;

namespace {

constexpr uint64_t kBegin = 0x7f0000001100;
constexpr uint64_t kPageSpan = 4096 * uint64_t{4096};  // at this distance two pages share a counter
constexpr uint64_t kAlike = kPageSpan - 128;           // and at this one two beginnings, too

}  // namespace

TEST_CASE("beginnings are known until they are gone") {
  const auto known = std::make_unique<KnownBeginnings>();
  CHECK_FALSE(known->may_hold(kBegin));
  known->add(kBegin);
  CHECK(known->may_hold(kBegin));
  CHECK_FALSE(known->may_hold(kBegin + 0x800));   // in the same page
  CHECK_FALSE(known->may_hold(kBegin + 0x1000));  // in the next one
  CHECK_FALSE(known->may_hold(kBegin + kPageSpan));
  known->add(kBegin + 0x800);
  known->remove(kBegin);
  CHECK_FALSE(known->may_hold(kBegin));
  CHECK(known->may_hold(kBegin + 0x800));
  known->remove(kBegin + 0x800);
  CHECK_FALSE(known->may_hold(kBegin + 0x800));
}

TEST_CASE("of beginnings that share their counts none is lost with another one") {
  const auto known = std::make_unique<KnownBeginnings>();
  known->add(kBegin);
  CHECK(known->may_hold(kBegin + kAlike));
  known->add(kBegin + kAlike);
  known->remove(kBegin + kAlike);
  CHECK(known->may_hold(kBegin));
  known->remove(kBegin);
  CHECK_FALSE(known->may_hold(kBegin));
}

TEST_CASE("of more than can be counted none is lost") {
  const auto known = std::make_unique<KnownBeginnings>();
  constexpr int kMany = 300;
  for (int i = 0; i < kMany; ++i) known->add(kBegin);
  for (int i = 1; i < kMany; ++i) known->remove(kBegin);
  CHECK(known->may_hold(kBegin));
}

TEST_CASE("what is kept is known whatever goes") {
  const auto known = std::make_unique<KnownBeginnings>();
  known->keep(kBegin);
  CHECK(known->may_hold(kBegin));
  CHECK_FALSE(known->may_hold(kBegin + 16));
  known->add(kBegin);
  known->remove(kBegin);
  CHECK(known->may_hold(kBegin));
}

TEST_CASE("threads that allocate and release in the same page miss nothing of each other") {
  const auto known = std::make_unique<KnownBeginnings>();
  std::atomic<int> missed{0};
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      const uint64_t begin = kBegin + thread * 16;
      for (int turn = 0; turn < 50'000; ++turn) {
        known->add(begin);
        missed += !known->may_hold(begin);
        known->remove(begin);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(missed == 0);
  for (uint64_t thread = 0; thread < 4; ++thread) CHECK_FALSE(known->may_hold(kBegin + thread * 16));
}

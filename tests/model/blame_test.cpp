#include "hpcrun/model/blame.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/measurement/recorder.h"

using namespace hpcrun;
using prof::test::Random;

namespace {

struct Blamed {
  WaitParts parts;
  std::vector<uint64_t> blames;
};

Blamed blame(Interval wait, const std::vector<Interval>& active) {
  std::vector<BlamedTask> tasks;
  for (const Interval& interval : active) tasks.push_back({interval});
  std::vector<TaskEdge> scratch(2 * tasks.size());
  Blamed result{blame_wait(wait, tasks.data(), tasks.size(), scratch.data()), {}};
  for (const BlamedTask& task : tasks) result.blames.push_back(task.blame);
  return result;
}

uint64_t sum(const std::vector<uint64_t>& values) {
  uint64_t total = 0;
  for (const uint64_t value : values) total += value;
  return total;
}

// Computes blame nanosecond by nanosecond, as Chabbi's thesis defines it.
struct Reference {
  WaitParts parts;
  std::vector<double> blames;
};

Reference reference(Interval wait, const std::vector<Interval>& active) {
  Reference result{{}, std::vector<double>(active.size())};
  uint64_t uncovered = 0;
  bool any = false;
  for (uint64_t at = wait.begin; at < wait.end; ++at) {
    std::vector<size_t> now;
    for (size_t i = 0; i < active.size(); ++i)
      if (active[i].begin <= at && at < active[i].end) now.push_back(i);
    if (now.empty()) {
      ++uncovered;
      continue;
    }
    (any ? result.parts.gap : result.parts.launch_latency) += uncovered;
    uncovered = 0;
    any = true;
    ++result.parts.cause;
    for (const size_t i : now) result.blames[i] += 1.0 / static_cast<double>(now.size());
  }
  result.parts.wake_latency = uncovered;
  return result;
}

std::vector<Interval> random_tasks(Random& random, uint64_t most, uint64_t range) {
  std::vector<Interval> tasks(random.below(most + 1));
  for (Interval& task : tasks) {
    task.begin = random.below(range);
    task.end = task.begin + random.below(range / 4);
  }
  return tasks;
}

void check_same(const WaitParts& a, const WaitParts& b) {
  CHECK(a.cause == b.cause);
  CHECK(a.launch_latency == b.launch_latency);
  CHECK(a.gap == b.gap);
  CHECK(a.wake_latency == b.wake_latency);
}

}  // namespace

TEST_CASE("figure 2.4: a kernel that overlaps the processor is blamed for the rest that is waited for") {
  // K runs from 10 to 60; the processor continues until T2 = 40 and waits until T3 = 60.
  const Blamed result = blame({40, 60}, {{10, 60}});
  CHECK(result.blames == std::vector<uint64_t>{20});
  CHECK(result.parts.cause == 20);
  CHECK(result.parts.total() == 20);
  CHECK(result.parts.wake_latency == 0);
}

TEST_CASE("figure 2.5: kernels that follow each other share a wait, and what is left is waking late") {
  // K1 ends at T2 = 50, K2 at T3 = 90; the call that began at 30 returns at 97.
  const Blamed result = blame({30, 97}, {{10, 50}, {50, 90}});
  CHECK(result.blames == std::vector<uint64_t>{20, 40});
  CHECK(result.parts.cause == 60);
  CHECK(result.parts.launch_latency == 0);
  CHECK(result.parts.gap == 0);
  CHECK(result.parts.wake_latency == 7);
}

TEST_CASE("figure 2.6: where kernels of two streams overlap each takes half of the blame") {
  constexpr uint64_t kAlpha = 10, kBeta = 20, kGamma = 30, kDelta = 8, kTheta = 12, kReturn = 5;
  const Interval k1{0, 100 + kAlpha + kBeta};
  const Interval k2{100 + kAlpha, k1.end + kGamma + kDelta};
  const Interval k3{k1.end + kGamma, k2.end + kTheta};
  const Blamed result = blame({100, k3.end + kReturn}, {k1, k2, k3});
  CHECK(result.blames ==
        std::vector<uint64_t>{kAlpha + kBeta / 2, kBeta / 2 + kGamma + kDelta / 2, kDelta / 2 + kTheta});
  CHECK(result.parts.wake_latency == kReturn);
}

TEST_CASE("time before the first task is launch latency, between tasks a gap") {
  const Blamed result = blame({0, 100}, {{70, 80}, {20, 50}});
  check_same(result.parts, {40, 20, 20, 20});
  CHECK(result.blames == std::vector<uint64_t>{10, 30});
}

TEST_CASE("a wait in which nothing was active is waking as a whole") {
  check_same(blame({10, 30}, {}).parts, {0, 0, 0, 20});
  check_same(blame({10, 30}, {{0, 10}, {30, 50}, {20, 20}}).parts, {0, 0, 0, 20});
}

TEST_CASE("rounding loses no nanosecond of the cause") {
  const Blamed result = blame({0, 100}, {{0, 100}, {0, 100}, {0, 100}});
  CHECK(sum(result.blames) == 100);
  for (const uint64_t one : result.blames) CHECK((one == 33 || one == 34));
}

TEST_CASE("long waits with many tasks do not overflow") {
  constexpr uint64_t kYear = uint64_t{365} * 86'400 * 1'000'000'000;
  std::vector<Interval> tasks(1'000, Interval{0, kYear});
  const Blamed result = blame({0, kYear / 512}, tasks);
  CHECK(sum(result.blames) == kYear / 512);
}

TEST_CASE("random schedules get the blame that counting every nanosecond gives") {
  Random random(7);
  for (int round = 0; round < 3'000; ++round) {
    const std::vector<Interval> tasks = random_tasks(random, 12, 400);
    const uint64_t begin = random.below(300);
    const Interval wait{begin, begin + random.below(200)};
    const Blamed result = blame(wait, tasks);
    const Reference expected = reference(wait, tasks);
    check_same(result.parts, expected.parts);
    REQUIRE(sum(result.blames) == result.parts.cause);
    REQUIRE(result.parts.total() == wait.end - wait.begin);
    for (size_t i = 0; i < tasks.size(); ++i)
      REQUIRE(std::abs(static_cast<double>(result.blames[i]) - expected.blames[i]) <= 2);
  }
}

TEST_CASE("a wait in pieces has the parts of the whole") {
  Random random(8);
  for (int round = 0; round < 2'000; ++round) {
    const std::vector<Interval> tasks = random_tasks(random, 8, 400);
    const Interval wait{random.below(100), 100 + random.below(300)};
    PiecedWait pieced;
    uint64_t at = wait.begin;
    std::vector<uint64_t> blames(tasks.size());
    while (at < wait.end) {
      const uint64_t next = std::min(wait.end, at + 1 + random.below(80));
      const Blamed piece = blame({at, next}, tasks);
      pieced.add(piece.parts);
      for (size_t i = 0; i < tasks.size(); ++i) blames[i] += piece.blames[i];
      at = next;
    }
    check_same(pieced.parts, blame(wait, tasks).parts);
    REQUIRE(sum(blames) == pieced.parts.cause);
  }
}

TEST_CASE("the union of intervals covers what any of them does") {
  Random random(9);
  for (int round = 0; round < 2'000; ++round) {
    const std::vector<Interval> intervals = random_tasks(random, 15, 300);
    std::vector<Interval> united = intervals;
    const size_t count = unite(united.data(), united.size());
    const uint64_t begin = random.below(300);
    const Interval window{begin, begin + random.below(200)};
    uint64_t expected = 0;
    for (uint64_t at = window.begin; at < window.end; ++at)
      for (const Interval& interval : intervals)
        if (interval.begin <= at && at < interval.end) {
          ++expected;
          break;
        }
    REQUIRE(covered(united.data(), count, window) == expected);
    for (size_t i = 0; i + 1 < count; ++i) REQUIRE(united[i].end < united[i + 1].begin);
  }
}

#include "hpcrun/device/cuda/launches.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

using hpcrun::Task;
using namespace hpcrun::cuda;

namespace {

Task* task(uintptr_t number) {
  return reinterpret_cast<Task*>(number * 16);
}

}  // namespace

TEST_CASE("every id of a launch leads to it until it is over") {
  Launches launches;
  LaunchList list;
  Launch* const launch = launches.add(list, nullptr, task(1), Records::One, 1);
  REQUIRE(launches.name(*launch, 17));
  REQUIRE(launches.name(*launch, 18));
  REQUIRE(launches.name(*launch, 17));
  CHECK(launches.find(17) == launch);
  CHECK(launches.find(18) == launch);
  CHECK(launches.find(19) == nullptr);
  CHECK(launches.receive(*launch));
  launches.remove(list, *launch);
  CHECK(launches.find(17) == nullptr);
  CHECK(launches.find(18) == nullptr);
  CHECK(list.first == nullptr);
  CHECK(launches.count() == 0);
}

TEST_CASE("a graph is over when all that is in it has run") {
  Launches launches;
  LaunchList list;
  Launch* const known = launches.add(list, nullptr, task(1), Records::Parts, 3);
  CHECK_FALSE(launches.receive(*known));
  CHECK_FALSE(launches.receive(*known));
  CHECK(launches.receive(*known));
  Launch* const unknown = launches.add(list, nullptr, task(2), Records::Parts, 0);
  for (int i = 0; i < 100; ++i) CHECK_FALSE(launches.receive(*unknown));
}

TEST_CASE("what a wait has covered is overdue a while later, and nothing else is") {
  Launches launches;
  LaunchList list;
  Launch* const first = launches.add(list, nullptr, task(1), Records::Parts, 0);
  const uint64_t sequence = launches.last_sequence();
  launches.add(list, nullptr, task(2), Records::Parts, 0);
  CHECK(Launches::overdue(list, 10 * Launches::kOverdueNs) == nullptr);
  Launches::cover(list, sequence, 1'000);
  Launches::cover(list, sequence, 2'000);
  CHECK(Launches::overdue(list, 1'000 + Launches::kOverdueNs) == nullptr);
  CHECK(Launches::overdue(list, 1'001 + Launches::kOverdueNs) == first);
  launches.remove(list, *first);
  CHECK(Launches::overdue(list, 10 * Launches::kOverdueNs) == nullptr);
}

TEST_CASE("an id that comes again means the newer launch, whose end leaves the older one's alone") {
  Launches launches;
  LaunchList list;
  Launch* const older = launches.add(list, nullptr, task(1), Records::One, 1);
  launches.name(*older, 5);
  Launch* const newer = launches.add(list, nullptr, task(2), Records::One, 1);
  launches.name(*newer, 5);
  CHECK(launches.find(5) == newer);
  launches.remove(list, *older);
  CHECK(launches.find(5) == newer);
  launches.remove(list, *newer);
  CHECK(launches.find(5) == nullptr);
}

TEST_CASE("random launches are found as a map finds them") {
  Launches launches;
  LaunchList list;
  std::mt19937 random(7);
  std::map<uint32_t, Launch*> expected;
  uint32_t id = 4'294'900'000;  // ids wrap around
  for (int i = 0; i < 200'000; ++i) {
    if (expected.empty() || random() % 100 < (i % 20'000 < 10'000 ? 60u : 40u)) {
      Launch* const launch = launches.add(list, nullptr, task(id), Records::One, 1);
      REQUIRE(launches.name(*launch, id));
      expected[id] = launch;
      id += 1 + static_cast<uint32_t>(random() % 3);
    } else {
      auto at = expected.lower_bound(static_cast<uint32_t>(random()));
      if (at == expected.end()) at = expected.begin();
      REQUIRE(launches.find(at->first) == at->second);
      launches.remove(list, *at->second);
      REQUIRE(launches.find(at->first) == nullptr);
      expected.erase(at);
    }
  }
  for (const auto& [key, launch] : expected) REQUIRE(launches.find(key) == launch);
  CHECK(launches.count() == expected.size());
}

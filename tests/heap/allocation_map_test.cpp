// Addresses resolve to allocations, compared with a sorted map, and from several threads at once.

#include "hpcrun/heap/allocation_map.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace hpcrun;

namespace {

struct Allocation {
  uint64_t bytes;
  SiteId site;
};

AllocationMap& fresh_map() {
  static std::vector<std::unique_ptr<AllocationMap>> maps;
  maps.push_back(std::make_unique<AllocationMap>());
  REQUIRE(maps.back()->start());
  return *maps.back();
}

}  // namespace

TEST_CASE("an address anywhere in an allocation finds it") {
  AllocationMap& map = fresh_map();
  const uint64_t base = 0x7f0000000000;
  for (const uint64_t bytes : {1, 16, 17, 4096, 65536, 100'000, 131072, 131088, 1 << 20, 200 << 20}) {
    for (const uint64_t after : {0, 16, 65520, (64 << 20) - 16}) {
      const uint64_t begin = base + after;
      INFO(bytes << " bytes at " << std::hex << begin);
      REQUIRE(map.add(begin, bytes, 7));
      for (const uint64_t at : {uint64_t{0}, bytes / 3, bytes / 2, bytes - 1}) {
        FoundAllocation found;
        REQUIRE(map.find(begin + at, found));
        CHECK(found.begin == begin);
        CHECK(found.site == 7);
        CHECK_FALSE(found.is_marked);
      }
      CHECK_FALSE(map.remove(begin));
      FoundAllocation found;
      CHECK_FALSE(map.find(begin, found));
      CHECK_FALSE(map.find(begin + bytes / 2, found));
    }
  }
}

TEST_CASE("a small allocation before a large one goes alone") {
  AllocationMap& map = fresh_map();
  REQUIRE(map.add(0x20000, 32, 1));
  REQUIRE(map.add(0x20020, 1 << 20, 2));
  map.remove(0x20000);
  FoundAllocation found;
  REQUIRE(map.find(0x20020 + (1 << 19), found));
  CHECK(found.begin == 0x20020);
}

TEST_CASE("a small allocation in the place of a large one goes alone") {
  AllocationMap& map = fresh_map();
  FoundAllocation found;
  REQUIRE(map.add(0x20020, 1 << 20, 2));
  map.remove(0x20020);
  REQUIRE(map.add(0x20020, 32, 1));
  REQUIRE(map.add(0x20040, 1 << 20, 3));
  map.remove(0x20020);
  REQUIRE(map.find(0x20040 + (1 << 19), found));
  CHECK(found.begin == 0x20040);
  map.remove(0x20040);
  CHECK_FALSE(map.find(0x20040 + (1 << 19), found));
}

TEST_CASE("what is marked tells when it goes") {
  AllocationMap& map = fresh_map();
  REQUIRE(map.add(0x10000, 64, kLastSite));
  CHECK(map.mark(0x10000));
  FoundAllocation found;
  REQUIRE(map.find(0x1003f, found));
  CHECK(found.is_marked);
  CHECK(found.site == kLastSite);
  CHECK(map.holds(0x10000));
  CHECK_FALSE(map.holds(0x10010));
  CHECK(map.remove(0x10000));
  CHECK_FALSE(map.holds(0x10000));
  CHECK_FALSE(map.remove(0x10000));
  CHECK_FALSE(map.mark(0x10000));
  // A new allocation at the same address is a different one.
  REQUIRE(map.add(0x10000, 64, 1));
  REQUIRE(map.find(0x10000, found));
  CHECK_FALSE(found.is_marked);
}

TEST_CASE("what the map never heard of, or cannot hold, is not found") {
  AllocationMap& map = fresh_map();
  FoundAllocation found;
  CHECK_FALSE(map.find(0x1234, found));
  CHECK_FALSE(map.find(UINT64_MAX, found));
  CHECK_FALSE(map.remove(0x1234));
  CHECK_FALSE(map.add(uint64_t{1} << AllocationMap::kAddressBits, 16, 1));
  AllocationMap never_started;
  CHECK_FALSE(never_started.add(0x1000, 16, 1));
  CHECK_FALSE(never_started.find(0x1000, found));
}

TEST_CASE("random allocations are found as a sorted map finds them") {
  AllocationMap& map = fresh_map();
  std::map<uint64_t, Allocation> live;
  std::mt19937_64 random(11);
  const uint64_t base = (uint64_t{5} << 30) - (1 << 20);
  uint64_t right = 0;
  for (int round = 0; round < 60'000; ++round) {
    const uint64_t begin = base + random() % (8 << 20) / 16 * 16;
    const uint64_t bytes = random() % 50 ? 1 + random() % 600 : 1 + random() % (1 << 20);
    const auto next = live.lower_bound(begin);
    const bool is_free =
        (next == live.end() || begin + bytes <= next->first) &&
        (next == live.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= begin);
    if (is_free) {
      const auto site = static_cast<SiteId>(1 + random() % kLastSite);
      REQUIRE(map.add(begin, bytes, site));
      live.emplace(begin, Allocation{bytes, site});
    } else if (next != live.end()) {
      map.remove(next->first);
      live.erase(next);
    }
    const uint64_t asked = base + random() % (9 << 20);
    const auto after = live.upper_bound(asked);
    if (after == live.begin() || asked - std::prev(after)->first >= std::prev(after)->second.bytes) continue;
    FoundAllocation found;
    REQUIRE(map.find(asked, found));
    REQUIRE(found.begin == std::prev(after)->first);
    REQUIRE(found.site == std::prev(after)->second.site);
    ++right;
  }
  CHECK(right > 5'000);
}

TEST_CASE("threads allocate, release and look up at once") {
  AllocationMap& map = fresh_map();
  std::atomic<bool> failed{false};
  const auto work = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::pair<void*, size_t>> mine;
    const auto site = static_cast<SiteId>(seed);
    for (int round = 0; round < 30'000; ++round) {
      if (mine.size() < 100 || random() % 2) {
        const size_t bytes = random() % 100 ? 1 + random() % 512 : 1 + random() % 400'000;
        void* const at = std::malloc(bytes);
        if (!map.add(reinterpret_cast<uint64_t>(at), bytes, site)) failed = true;
        mine.emplace_back(at, bytes);
      } else {
        const size_t pick = random() % mine.size();
        map.remove(reinterpret_cast<uint64_t>(mine[pick].first));
        std::free(mine[pick].first);
        mine[pick] = mine.back();
        mine.pop_back();
      }
      const auto& [at, bytes] = mine[random() % mine.size()];
      FoundAllocation found;
      if (!map.find(reinterpret_cast<uint64_t>(at) + random() % bytes, found) ||
          found.begin != reinterpret_cast<uint64_t>(at) || found.site != site)
        failed = true;
    }
    for (const auto& [at, bytes] : mine) {
      map.remove(reinterpret_cast<uint64_t>(at));
      std::free(at);
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(failed);
}

// Tests the placement of objects for which threads do not contend for their lines, for uses with a known
// truth.

#include "hpcrun/model/placement.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace hpcrun;

namespace {

using Uses = std::vector<ObjectUse>;

uint64_t conflicts(const Uses& uses, uint32_t offset) {
  return conflicts_at(uses.data(), static_cast<uint32_t>(uses.size()), offset);
}

ChosenPlacement choose(const Uses& uses, uint64_t conflicts_now, uint64_t align = 1) {
  return choose_placement(uses.data(), static_cast<uint32_t>(uses.size()), conflicts_now, align);
}

// Returns the conflicts of objects that are placed one after the other.
uint64_t conflicts_in_row(Uses uses, uint64_t begin, uint64_t stride) {
  for (ObjectUse& use : uses) {
    use.offset += begin + stride * use.object;
    use.object = 0;
  }
  return conflicts(uses, 0);
}

constexpr Placement at_offset(uint32_t offset) {
  return {.align = 64, .offset = offset, .pad = 64};
}

ObjectUse written(uint32_t thread, uint32_t object, uint64_t offset, uint32_t bytes = 8,
                  uint64_t accesses = 100) {
  return {thread, object, offset, bytes, true, accesses};
}

ObjectUse only_read(uint32_t thread, uint32_t object, uint64_t offset, uint32_t bytes = 8,
                    uint64_t accesses = 100) {
  return {thread, object, offset, bytes, false, accesses};
}

// The same by bytes: for each line and pair of threads, the uses that contend for the line and have no byte
// in common.
uint64_t conflicts_by_bytes(const Uses& uses, uint32_t offset) {
  struct OnLine {
    std::set<uint64_t> bytes;
    bool writes;
    uint64_t accesses;
  };
  std::map<std::pair<uint32_t, uint64_t>, std::map<uint32_t, std::vector<OnLine>>> lines;
  for (const ObjectUse& use : uses) {
    std::map<uint64_t, std::set<uint64_t>> bytes;
    for (uint64_t byte = use.offset + offset; byte < use.offset + offset + use.bytes; ++byte)
      bytes[byte / 64].insert(byte);
    for (const auto& [line, on_it] : bytes)
      lines[{use.object, line}][use.thread].push_back({on_it, use.writes, use.accesses});
  }
  const auto side = [](const std::vector<OnLine>& of, const std::vector<OnLine>& against) {
    uint64_t sum = 0;
    for (const OnLine& use : of) {
      bool conflicts = false;
      for (const OnLine& other : against)
        conflicts |= (use.writes || other.writes) &&
                     std::none_of(use.bytes.begin(), use.bytes.end(),
                                  [&](uint64_t byte) { return other.bytes.count(byte) != 0; });
      if (conflicts) sum += use.accesses;
    }
    return sum;
  };
  uint64_t sum = 0;
  for (const auto& [line, threads] : lines)
    for (auto left = threads.begin(); left != threads.end(); ++left)
      for (auto right = std::next(left); right != threads.end(); ++right)
        sum += std::min(side(left->second, right->second), side(right->second, left->second));
  return sum;
}

}  // namespace

TEST_CASE("neighbours of 40 bytes are parted by alignment") {
  Uses uses;
  for (uint32_t object = 0; object < 8; ++object) uses.push_back(written(object, object, 0, 40));
  const uint64_t now = conflicts_in_row(uses, 16, 48);  // as malloc places them
  CHECK(now > 0);
  const ChosenPlacement chosen = choose(uses, now);
  CHECK(chosen.placement == at_offset(0));
  CHECK(chosen.conflicts == 0);
}

TEST_CASE("two elements of 40 bytes need another offset than that of alignment") {
  const Uses uses = {written(1, 0, 8, 8), written(2, 0, 40, 8)};
  CHECK(conflicts(uses, 16) == 100);
  CHECK(conflicts(uses, 0) == 100);
  CHECK(choose(uses, 100).placement == at_offset(32));
}

TEST_CASE("what the program asks of an address stays, and offsets that it forbids are not tried") {
  const Uses uses = {written(1, 0, 8, 8), written(2, 0, 40, 8)};
  CHECK(choose(uses, 100, 32).placement == at_offset(32));
  CHECK(choose(uses, 100, 64).placement == kAsAllocated);
  CHECK(choose(uses, 100, 4096).conflicts == 100);
  const Uses apart = {written(1, 0, 56, 8), written(2, 0, 64, 8)};
  CHECK(choose(apart, 100, 256).placement == at_offset(0));
}

TEST_CASE("alignment that creates sharing in elements of 3,096 bytes is not chosen") {
  // Each thread uses the first and last words.
  Uses uses;
  for (uint32_t thread = 0; thread < 2; ++thread) {
    uses.push_back(written(thread, 0, 3096 * thread));
    uses.push_back(written(thread, 0, 3096 * thread + 3072));
  }
  CHECK(conflicts(uses, 48) == 0);
  CHECK(conflicts(uses, 0) > 0);
  CHECK(conflicts(uses, 16) > 0);
  const ChosenPlacement chosen = choose(uses, conflicts(uses, 16));
  CHECK(chosen.placement == at_offset(48));
  CHECK(chosen.conflicts == 0);
}

TEST_CASE("threads that meet within a line at every offset are not helped") {
  const Uses uses = {written(1, 0, 0), written(2, 0, 8), written(3, 0, 16)};
  const ChosenPlacement chosen = choose(uses, 300);
  CHECK(chosen.placement == kAsAllocated);
  CHECK(chosen.conflicts == 300);
}

TEST_CASE("threads at the same bytes are not helped") {
  const Uses uses = {written(1, 0, 0), written(2, 0, 0), only_read(3, 0, 4, 4)};
  for (uint32_t offset = 0; offset < 64; offset += 16) CHECK(conflicts(uses, offset) == 0);
  CHECK(choose(uses, 0).placement == kAsAllocated);
}

TEST_CASE("who only reads conflicts with nobody but a writer") {
  CHECK(conflicts({only_read(1, 0, 0), only_read(2, 0, 8)}, 0) == 0);
  CHECK(conflicts({only_read(1, 0, 0, 8, 70), written(2, 0, 8, 8, 30)}, 0) == 30);
}

TEST_CASE("the lesser side counts, once for a line and a pair of threads") {
  CHECK(conflicts({written(1, 0, 0, 8, 70), written(1, 0, 8, 8, 50), written(2, 0, 16, 8, 100)}, 0) == 100);
  CHECK(conflicts({written(1, 0, 0, 8, 10), written(2, 0, 16, 8, 100), written(3, 0, 24, 8, 40)}, 0) == 60);
  CHECK(conflicts({written(1, 0, 0), written(2, 1, 8)}, 0) == 0);  // separate objects
}

TEST_CASE("a use that a placement puts across two lines counts on both") {
  const Uses uses = {written(1, 0, 8, 16), written(2, 0, 0), written(3, 0, 40)};
  CHECK(conflicts(uses, 48) == 200);
}

TEST_CASE("a few accesses more are chance, and the smaller offset stays") {
  const auto seen = [](uint64_t at_0, uint64_t at_32) {
    return Uses{written(1, 0, 0), written(2, 0, 72, 8, 500), written(1, 0, 96, 8, at_0),
                written(1, 0, 56, 8, at_32)};
  };
  CHECK(conflicts(seen(4, 3), 0) == 4);
  CHECK(conflicts(seen(4, 3), 32) == 3);
  CHECK(choose(seen(4, 3), 100).placement == at_offset(0));
  CHECK(choose(seen(4, 0), 100).placement == at_offset(0));
  CHECK(choose(seen(10, 0), 100).placement == at_offset(32));
  CHECK(choose(seen(90, 50), 1000).placement == at_offset(32));
  CHECK(choose(seen(90, 70), 1000).placement == at_offset(0));
  // More than a tenth, if another offset shows that the difference is chance.
  CHECK(choose(seen(7, 0), 38).placement == at_offset(0));
  CHECK(choose(seen(4, 0), 19).placement == at_offset(32));
}

TEST_CASE("a placement that leaves more than a tenth helps nobody") {
  // 20 conflicts remain at any offset.
  const Uses uses = {written(1, 0, 0, 8, 20), written(2, 0, 8, 8, 20)};
  CHECK(choose(uses, 199).placement == kAsAllocated);
  CHECK(choose(uses, 199).is_close);
  CHECK_FALSE(choose(uses, 99).is_close);
  CHECK(choose(uses, 200).placement == at_offset(0));
  CHECK(choose(uses, 200).conflicts == 20);
}

TEST_CASE("conflicts are those that a search by bytes finds") {
  std::mt19937 random(7);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  for (int turn = 0; turn < 2'000; ++turn) {
    Uses uses(1 + below(14));
    for (ObjectUse& use : uses)
      use = {below(4), below(3), below(200), 1 + below(24), below(3) != 0, 1 + below(1'000)};
    for (uint32_t offset = 0; offset < 64; offset += 16) {
      CAPTURE(turn, offset);
      REQUIRE(conflicts(uses, offset) == conflicts_by_bytes(uses, offset));
    }
    const uint64_t now = conflicts_in_row(uses, 16, 208);
    const ChosenPlacement chosen = choose(uses, now);
    if (chosen.placement == kAsAllocated) continue;
    CHECK(chosen.conflicts <= now / 5);
    // No offset leaves significantly fewer, and one leaves at most a tenth.
    uint64_t least = now;
    for (uint32_t offset = 0; offset < 64; offset += 16) {
      least = std::min(least, conflicts_by_bytes(uses, offset));
      const auto left = static_cast<double>(conflicts_by_bytes(uses, offset));
      const auto by_chosen = static_cast<double>(chosen.conflicts);
      CHECK(by_chosen - left <= 3 * std::sqrt(by_chosen + left));
    }
    CHECK(least <= now / 10);
  }
}

// Accesses become findings: the cases of SHERIFF's table 1, and other uses of cache lines.

#include "analysis/contention/contended_data.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace prof;
using hpcrun::AccessKind;
using hpcrun::Sharing;

namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kBase = 0x7f0000001000;

struct Recording {
  std::vector<ContentionAccess> accesses;
  std::vector<DataObject> objects;

  // Adds samples of a thread at an address from begin to end, one every 4 ms.
  void use(uint32_t thread, uint64_t address, uint16_t bytes, AccessKind kind, uint64_t begin_ms,
           uint64_t end_ms, uint32_t object = kNoObject, uint32_t context = 0) {
    for (uint64_t ms = begin_ms; ms < end_ms; ms += 4) {
      ContentionAccess access;
      access.thread = thread;
      access.time_ns = ms * kMs;
      access.address = address;
      access.bytes = bytes;
      access.kind = kind;
      access.weight_ns = 4 * kMs;
      access.context = context ? context : thread;
      access.object = object;
      accesses.push_back(access);
    }
  }

  uint32_t object(uint64_t begin, uint64_t bytes, uint32_t site, uint64_t born_ms = 0, uint64_t died_ms = 0) {
    DataObject made;
    made.kind = ObjectKind::Heap;
    made.begin = begin;
    made.bytes = bytes;
    made.site = site;
    made.born_ns = born_ms * kMs;
    if (died_ms) made.died_ns = died_ms * kMs;
    objects.push_back(made);
    return static_cast<uint32_t>(objects.size() - 1);
  }

  std::vector<ContendedData> found() {
    std::shuffle(accesses.begin(), accesses.end(), std::mt19937(7));
    return find_contended_data(accesses, objects);
  }
};

}  // namespace

TEST_CASE("adjacent objects share falsely") {
  Recording run;
  const uint32_t a = run.object(kBase, 24, 1);
  const uint32_t b = run.object(kBase + 32, 24, 1);
  run.use(1, kBase + 8, 8, AccessKind::ReadWrite, 0, 1000, a);
  run.use(2, kBase + 40, 8, AccessKind::ReadWrite, 0, 1000, b);
  const auto found = run.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].sharing == Sharing::False);
  CHECK(found[0].site == 1);
  CHECK(found[0].objects == std::vector<uint32_t>{a, b});
  CHECK(found[0].lines == std::vector<uint64_t>{kBase});
  CHECK(found[0].weight_ns == 2 * 1000 * kMs);
  REQUIRE(found[0].sides.size() == 2);
  for (const ContentionSide& side : found[0].sides) {
    CHECK(side.offset == 8);
    CHECK(side.bytes == 8);
    CHECK(side.accesses == 250);
    CHECK(side.object == (side.thread == 1 ? a : b));
    CHECK(side.contexts == std::vector<uint32_t>{side.thread});
  }
}

TEST_CASE("elements of one array share falsely, and are one finding") {
  Recording run;
  const uint32_t array = run.object(kBase, 40 * 16, 5);
  for (uint32_t thread = 0; thread < 16; ++thread)
    run.use(thread, kBase + 40 * thread, 8, AccessKind::ReadWrite, 0, 500, array);
  const auto found = run.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].sharing == Sharing::False);
  CHECK(found[0].lines.size() > 5);
  CHECK(found[0].objects == std::vector<uint32_t>{array});
}

TEST_CASE("one word for all is true sharing") {
  Recording run;
  const uint32_t word = run.object(kBase + 16, 8, 2);
  for (uint32_t thread = 0; thread < 3; ++thread)
    run.use(thread, kBase + 16, 8, AccessKind::ReadWrite, 0, 500, word);
  const auto found = run.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].sharing == Sharing::True);
}

TEST_CASE("threads that come one after the other are no finding") {
  Recording run;
  const uint32_t object = run.object(kBase, 64, 1);
  run.use(1, kBase, 8, AccessKind::ReadWrite, 0, 400, object);
  run.use(2, kBase + 8, 8, AccessKind::ReadWrite, 408, 800, object);
  CHECK(run.found().empty());
}

TEST_CASE("threads that take turns are no finding, whatever windows of time cut them into") {
  for (const uint64_t turn_ms : {20, 40, 60, 90}) {
    Recording recording;
    for (uint64_t turn = 0; turn < 20; ++turn)
      recording.use(turn % 2, kBase, 8, AccessKind::ReadWrite, turn * turn_ms, (turn + 1) * turn_ms);
    CHECK(recording.found().empty());
  }
}

TEST_CASE("threads that work in bursts at the same time are one") {
  Recording recording;
  for (uint64_t burst = 0; burst < 10; ++burst)
    for (uint32_t thread = 0; thread < 2; ++thread)
      recording.use(thread, kBase + 8 * thread, 8, AccessKind::ReadWrite, burst * 200 + thread,
                    burst * 200 + 40);
  REQUIRE(recording.found().size() == 1);
  CHECK(recording.found()[0].sharing == Sharing::False);
}

TEST_CASE("an object at the place of another one is another one") {
  Recording run;
  const uint32_t first = run.object(kBase, 64, 1, 0, 50);
  const uint32_t second = run.object(kBase, 64, 1, 51, 99);
  run.use(1, kBase, 8, AccessKind::ReadWrite, 0, 50, first);
  run.use(2, kBase + 8, 8, AccessKind::ReadWrite, 52, 99, second);
  CHECK(run.found().empty());
  // If it were one object, both threads would contend at about 50 ms.
  run.objects[first].died_ns = UINT64_MAX;
  for (ContentionAccess& access : run.accesses) access.object = first;
  run.use(1, kBase, 8, AccessKind::ReadWrite, 52, 99, first);
  CHECK(run.found().size() == 1);
}

TEST_CASE("a reader beside a single writer is found") {
  Recording run;
  run.use(1, kBase, 4, AccessKind::Read, 0, 400);
  run.use(2, kBase + 60, 4, AccessKind::Write, 0, 400);
  const auto found = run.found();
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].has_object);
  CHECK(found[0].sharing == Sharing::False);
  CHECK(found[0].moves.false_read_write > 0);
  CHECK(found[0].sides[0].offset >= kBase);
}

TEST_CASE("readers alone and lines of one thread are no finding") {
  Recording run;
  run.use(1, kBase, 8, AccessKind::Read, 0, 400);
  run.use(2, kBase, 8, AccessKind::Read, 0, 400);
  run.use(1, kBase + 64, 8, AccessKind::ReadWrite, 0, 400);
  run.use(2, kBase + 128, 8, AccessKind::ReadWrite, 0, 400);
  CHECK(run.found().empty());
}

TEST_CASE("neighbours of a pair of lines are noted beside the finding, and are none alone") {
  Recording run;
  const uint32_t object = run.object(kBase, 128, 1);
  run.use(1, kBase, 8, AccessKind::ReadWrite, 0, 400, object);
  run.use(2, kBase + 64, 8, AccessKind::ReadWrite, 0, 400, object);
  CHECK(run.found().empty());
  run.use(3, kBase + 8, 8, AccessKind::ReadWrite, 0, 400, object);
  const auto found = run.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].lines == std::vector<uint64_t>{kBase});
  CHECK(found[0].adjacent_moves > 0);
}

TEST_CASE("an access over the end of a line is one of both") {
  Recording run;
  run.use(1, kBase + 60, 8, AccessKind::Write, 0, 400);
  run.use(2, kBase + 64, 4, AccessKind::Read, 0, 400);
  const auto found = run.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].sharing == Sharing::True);
  CHECK(found[0].lines == std::vector<uint64_t>{kBase + 64});
}

TEST_CASE("the costliest finding comes first") {
  Recording run;
  const uint32_t small = run.object(kBase, 64, 1);
  const uint32_t large = run.object(kBase + 64, 64, 2);
  run.use(1, kBase, 8, AccessKind::ReadWrite, 0, 100, small);
  run.use(2, kBase + 8, 8, AccessKind::ReadWrite, 0, 100, small);
  run.use(1, kBase + 64, 8, AccessKind::ReadWrite, 100, 800, large);
  run.use(2, kBase + 72, 8, AccessKind::ReadWrite, 100, 800, large);
  const auto found = run.found();
  REQUIRE(found.size() == 2);
  CHECK(found[0].site == 2);
  CHECK(find_contended_data({}, {}).empty());
}

TEST_CASE("threads are busy with data from sample to sample, if these are close") {
  Recording recording;
  const uint32_t pair = recording.object(kBase, 64, 1);
  recording.use(0, kBase, 8, AccessKind::ReadWrite, 1000, 1100, pair);
  // In every fifth sample the other thread is there; it was elsewhere for a while.
  for (const uint64_t begin_ms : {1000, 3000})
    for (uint64_t ms = begin_ms; ms < begin_ms + 100; ms += 20)
      recording.use(1, kBase + 8, 8, AccessKind::ReadWrite, ms, ms + 4, pair);
  const std::vector<ContendedData> found = recording.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].weight_ns == (25 + 10) * 4 * kMs);
  CHECK(found[0].busy_ns.at(0) == 25 * 4 * kMs);
  CHECK(found[0].busy_ns.at(1) == 2 * (4 + 4 * 20) * kMs);
}

TEST_CASE("what was recorded once is no side where others were often") {
  Recording recording;
  const uint32_t pair = recording.object(kBase, 48, 1);
  for (const uint32_t thread : {0, 1})
    recording.use(thread, kBase + thread * 8, 8, AccessKind::ReadWrite, 1000, 1040, pair);
  recording.use(0, kBase + 56, 8, AccessKind::Write, 1038, 1042);
  CHECK(recording.found()[0].sides.size() == 3);  // they were not
  for (const uint32_t thread : {0, 1})
    recording.use(thread, kBase + thread * 8, 8, AccessKind::ReadWrite, 1040, 1100, pair);
  CHECK(recording.found()[0].sides.size() == 2);
}

TEST_CASE("a byte that one thread writes and another uses is not called false sharing") {
  Recording run;
  const uint32_t object = run.object(kBase, 64, 1);
  run.use(1, kBase, 8, AccessKind::ReadWrite, 0, 2000, object);
  run.use(2, kBase + 8, 8, AccessKind::ReadWrite, 0, 2000, object);
  run.use(2, kBase, 8, AccessKind::Read, 0, 80, object);
  const auto found = run.found();
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].sides.size() == 3);
  CHECK(found[0].moves.of_true_sharing() < 0.1 * found[0].moves.total());
  CHECK(found[0].sharing == Sharing::Mixed);
}

TEST_CASE("bytes that a thread touches without samples do not make sharing mixed") {
  // The thread that allocates and frees the object behaves like this.
  Recording run;
  const uint32_t object = run.object(kBase, 64, 1);
  run.use(1, kBase, 8, AccessKind::ReadWrite, 0, 2000, object);
  run.use(2, kBase + 8, 8, AccessKind::ReadWrite, 0, 2000, object);
  const size_t first_without_samples = run.accesses.size();
  run.use(2, kBase, 8, AccessKind::Write, 0, 80, object);
  for (size_t i = first_without_samples; i < run.accesses.size(); ++i) run.accesses[i].weight_ns = 0;
  const auto found = run.found();
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].sides.size() == 3);
  CHECK(found[0].sides[2].weight_ns == 0);
  CHECK(found[0].sharing == Sharing::False);
}

TEST_CASE("memory without a recorded allocation does not make sharing of known objects mixed") {
  Recording run;
  const uint32_t object = run.object(kBase, 16, 1);
  for (const uint32_t of : {object, kNoObject}) {
    run.accesses.clear();
    run.use(1, kBase, 8, AccessKind::ReadWrite, 0, 2000, of);
    run.use(2, kBase + 8, 8, AccessKind::ReadWrite, 0, 2000, of);
    // Objects at the same address, one after the other, look like a single one.
    run.use(1, kBase + 24, 8, AccessKind::ReadWrite, 0, 80);
    run.use(2, kBase + 24, 8, AccessKind::ReadWrite, 0, 80);
    const auto found = run.found();
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].sides.size() == 4);
    CHECK(found[0].moves.of_true_sharing() < 0.1 * found[0].moves.total());
    // If nothing on the line is a known object, these bytes are all the evidence there is.
    CHECK(found[0].sharing == (of == object ? Sharing::False : Sharing::Mixed));
  }
}

TEST_CASE("a writer stays in the finding, however much more often others read") {
  Recording run;
  const uint32_t object = run.object(kBase, 64, 1);
  for (uint32_t thread = 1; thread < 3; ++thread)
    for (int i = 0; i < 40; ++i) run.use(thread, kBase + 8, 8, AccessKind::Read, 0, 400, object);
  run.use(3, kBase, 8, AccessKind::Write, 0, 200, object);
  const auto found = run.found();
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].sides.size() == 3);
  CHECK(found[0].sides[2].thread == 3);
  CHECK(hpcrun::writes(found[0].sides[2].kind));
}

TEST_CASE("data that are used in one loop share its time") {
  Recording run;
  const uint32_t first = run.object(kBase, 64, 1);
  const uint32_t second = run.object(kBase + 640, 64, 2);
  for (uint32_t thread = 1; thread < 3; ++thread)
    for (uint64_t ms = 0; ms < 2000; ms += 4)
      run.use(thread, (ms % 12 ? kBase : kBase + 640) + 8 * thread, 8, AccessKind::ReadWrite, ms, ms + 4,
              ms % 12 ? first : second);
  const auto found = run.found();
  REQUIRE(found.size() == 2);
  for (uint32_t thread = 1; thread < 3; ++thread) {
    const uint64_t one = found[0].busy_ns.at(thread), other = found[1].busy_ns.at(thread);
    CHECK(one + other <= 2000 * kMs);
    CHECK(one + other > 1900 * kMs);
    CHECK(one > other);
  }
}

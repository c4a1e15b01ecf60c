// Which threads share a line: the verdict and the number of moves, for accesses with a known truth.

#include "hpcrun/model/cache_line.h"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using namespace hpcrun;

namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kResolution = 4 * kMs;

// The samples of a thread, one every 4 ms, each of which represents `each` accesses.
struct Stream {
  uint32_t thread;
  uint8_t offset;
  uint8_t bytes;
  AccessKind kind;
  uint64_t begin_ms;
  uint64_t end_ms;
  uint64_t each = 1'000;
};

LineMoves moves_of(const std::vector<Stream>& streams) {
  LineWindow window;
  for (const Stream& stream : streams)
    for (uint64_t ms = stream.begin_ms; ms < stream.end_ms; ms += 4)
      REQUIRE(window.note({stream.thread, stream.offset, stream.bytes, stream.kind, ms * kMs, stream.each}));
  return window.moves(kResolution);
}

Sharing verdict_of(const std::vector<Stream>& streams) {
  return verdict(moves_of(streams), 1);
}

constexpr AccessKind kRead = AccessKind::Read;
constexpr AccessKind kWrite = AccessKind::Write;
constexpr AccessKind kBoth = AccessKind::ReadWrite;

}  // namespace

TEST_CASE("threads that write side by side share falsely") {
  const LineMoves moves = moves_of({{1, 0, 8, kBoth, 0, 100}, {2, 8, 8, kBoth, 0, 100}});
  CHECK(verdict(moves, 1) == Sharing::False);
  CHECK(moves.of_true_sharing() == 0);
  CHECK(moves.false_read_write == 0);
  // Each of 25 x 1,000 accesses of one thread follows one of the other half of the time.
  CHECK(moves.false_write_write == Approx(25'000));
}

TEST_CASE("a reader beside a single writer shares falsely") {
  const LineMoves moves = moves_of({{1, 0, 4, kRead, 0, 100}, {2, 60, 4, kWrite, 0, 100}});
  CHECK(verdict(moves, 1) == Sharing::False);
  CHECK(moves.false_write_write == 0);
  CHECK(moves.false_read_write > 0);
}

TEST_CASE("threads at the same bytes share truly, at some of them as well") {
  CHECK(verdict_of({{1, 8, 8, kBoth, 0, 100}, {2, 8, 8, kBoth, 0, 100}}) == Sharing::True);
  CHECK(verdict_of({{1, 8, 8, kWrite, 0, 100}, {2, 12, 8, kRead, 0, 100}}) == Sharing::True);
  CHECK(verdict_of({{1, 8, 1, kWrite, 0, 100}, {2, 9, 1, kRead, 0, 100}}) == Sharing::False);
}

TEST_CASE("a lock beside a counter is both") {
  CHECK(verdict_of({{1, 0, 4, kBoth, 0, 100},
                    {1, 8, 8, kBoth, 0, 100},
                    {2, 0, 4, kBoth, 0, 100},
                    {2, 16, 8, kBoth, 0, 100}}) == Sharing::Mixed);
}

TEST_CASE("who only reads shares nothing") {
  CHECK(verdict_of({{1, 0, 8, kRead, 0, 100}, {2, 0, 8, kRead, 0, 100}, {3, 8, 8, kRead, 0, 100}}) ==
        Sharing::None);
}

TEST_CASE("threads that come one after the other share nothing") {
  CHECK(verdict_of({{1, 0, 8, kBoth, 0, 48}, {2, 8, 8, kBoth, 52, 100}}) == Sharing::None);
  // Half of the time together.
  const LineMoves half = moves_of({{1, 0, 8, kBoth, 0, 100}, {2, 8, 8, kBoth, 50, 150}});
  const LineMoves whole = moves_of({{1, 0, 8, kBoth, 0, 100}, {2, 8, 8, kBoth, 0, 100}});
  CHECK(half.total() == Approx(whole.total() / 2).epsilon(0.05));
}

TEST_CASE("a thread that comes rarely moves the line rarely") {
  const LineMoves moves = moves_of({{1, 0, 8, kBoth, 0, 100, 100'000}, {2, 8, 8, kBoth, 0, 100, 10}});
  // There and back for each of its 250 accesses.
  CHECK(moves.total() == Approx(2 * 250).epsilon(0.01));
}

TEST_CASE("a kind of sharing below a tenth does not make it mixed") {
  LineMoves moves;
  moves.false_write_write = 1'000;
  moves.true_read_write = 99;
  CHECK(verdict(moves, 1) == Sharing::False);
  moves.true_read_write = 150;
  CHECK(verdict(moves, 1) == Sharing::Mixed);
  CHECK(verdict(moves, 1'151) == Sharing::None);
  moves.false_write_write = 10;
  CHECK(verdict(moves, 1) == Sharing::True);
}

TEST_CASE("both lines of a pair can be distinguished from one") {
  CHECK(verdict_of({{1, 0, 8, kBoth, 0, 100}, {2, 64, 8, kBoth, 0, 100}}) == Sharing::False);
}

TEST_CASE("what there is no room for is counted and changes nothing") {
  LineWindow window;
  for (uint32_t thread = 0; thread < kMaxLineThreads; ++thread)
    CHECK(window.note({thread, 0, 4, kWrite, 1, 10}));
  CHECK_FALSE(window.note({kMaxLineThreads, 0, 4, kWrite, 1, 10}));
  for (uint8_t spot = 1; spot < kMaxSpots; ++spot) CHECK(window.note({0, spot, 1, kWrite, 1, 10}));
  CHECK_FALSE(window.note({0, 32, 1, kWrite, 1, 10}));
  CHECK_FALSE(window.note({0, 0, 0, kWrite, 1, 10}));
  CHECK_FALSE(window.note({0, 127, 2, kWrite, 1, 10}));
  CHECK(window.lost() == 40);
  window.clear();
  CHECK(window.begin() == window.end());
  CHECK(window.moves(kResolution).total() == 0);
  CHECK(window.lost() == 0);
}

// Accesses in random order: the model's number of moves, compared with a simulation of the line's owner.
TEST_CASE("the estimate agrees with a line that is followed access by access") {
  std::mt19937 random(20260101);
  for (int round = 0; round < 200; ++round) {
    struct Actor {
      uint8_t offset;
      uint64_t weight;
    };
    std::vector<Actor> actors(2 + random() % 5);
    uint64_t all = 0;
    for (Actor& actor : actors) {
      actor = {static_cast<uint8_t>(8 * (random() % 4)), 1 + random() % 20};
      all += actor.weight;
    }
    LineWindow window;
    constexpr uint64_t kAccesses = 40'000;
    double true_moves = 0;
    double false_moves = 0;
    size_t owner = actors.size();
    for (uint64_t i = 0; i < kAccesses; ++i) {
      uint64_t pick = random() % all;
      size_t actor = 0;
      while (pick >= actors[actor].weight) pick -= actors[actor++].weight;
      window.note({static_cast<uint32_t>(actor), actors[actor].offset, 8, kBoth, i, 1});
      if (owner < actors.size() && owner != actor)
        (actors[owner].offset == actors[actor].offset ? true_moves : false_moves) += 1;
      owner = actor;
    }
    const LineMoves moves = window.moves(1);
    CHECK(moves.of_true_sharing() == Approx(true_moves).epsilon(0.05).margin(200));
    CHECK(moves.of_false_sharing() == Approx(false_moves).epsilon(0.05).margin(200));
  }
}

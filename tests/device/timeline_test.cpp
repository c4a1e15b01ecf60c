#include "hpcrun/device/timeline.h"

#include <catch2/catch.hpp>
#include <thread>

using namespace hpcrun;

namespace {

struct Memory {
  Arena arena;
  ~Memory() { arena.release_all(); }
};

}  // namespace

TEST_CASE("pieces come out as they went in, while another thread takes them") {
  Memory memory;
  PieceQueue queue;
  constexpr uint64_t kPieces = 300'000;
  std::thread consumer([&] {
    for (uint64_t expected = 0; expected < kPieces;) {
      const TimelinePiece* piece = queue.front();
      if (!piece) {
        std::this_thread::yield();
        continue;
      }
      if (piece->begin != expected || piece->end != expected + 1) FAIL("a piece is lost or torn");
      ++expected;
      queue.pop();
    }
  });
  for (uint64_t i = 0; i < kPieces; ++i)
    if (!queue.push(memory.arena, {i, i + 1, nullptr})) FAIL("no memory");
  consumer.join();
  CHECK(queue.front() == nullptr);
}

TEST_CASE("a queue that is emptied takes no more memory") {
  Memory memory;
  PieceQueue queue;
  for (uint64_t i = 0; i < 1'000'000; ++i) {
    REQUIRE(queue.push(memory.arena, {i, i + 1, nullptr}));
    if (i % 100 == 0)
      while (queue.front()) queue.pop();
  }
  CHECK(memory.arena.bytes_mapped() <= 128 * 1024);
}

TEST_CASE("time before a device call belongs to the context of the next cut") {
  Memory memory;
  Timeline timeline;
  DeviceActivity busy;
  busy.outstanding = 1;
  ValueCell first{}, second{};
  timeline.begin(100);
  timeline.cut(memory.arena, busy, 110, &first);
  timeline.cut_open(memory.arena, 130);
  timeline.cut(memory.arena, busy, 135, &second);
  const auto always_idle = [](uint64_t time) { return time; };
  timeline.resolve(134, always_idle);
  CHECK(first.value == 10);
  CHECK(second.value == 0);
  timeline.resolve(135, always_idle);
  CHECK(second.value == 25);
  CHECK(second.samples == 1);
}

TEST_CASE("where devices have nothing to do a piece counts at once, for each of them") {
  Memory memory;
  Timeline timeline;
  DeviceActivity activity;
  activity.devices = 2;
  activity.last_end = 90;
  ValueCell cell{};
  timeline.begin(100);
  timeline.cut(memory.arena, activity, 150, &cell);
  CHECK(cell.value == 100);
  activity.last_end = 160;
  timeline.cut(memory.arena, activity, 170, &cell);
  CHECK(cell.value == 100);
  CHECK(timeline.last() == 170);
  timeline.skip_to(200);
  activity.last_end = 0;
  timeline.cut(memory.arena, activity, 210, &cell);
  CHECK(cell.value == 120);
}

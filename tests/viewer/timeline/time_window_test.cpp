#include "viewer/timeline/time_window.h"

#include <catch2/catch.hpp>

#include "viewer/timeline/time_axis.h"

using namespace prof::viewer;

namespace {

constexpr uint64_t kBegin = 1'700'000'000'000'000'000, kWindowMs = 1'000'000;
constexpr TimeRange kWhole{kBegin, kBegin + 1000 * kWindowMs};

TimeWindow window() {
  TimeWindow window;
  window.set_whole(kWhole);
  return window;
}

}  // namespace

TEST_CASE("a zoom keeps the instant where it is") {
  TimeWindow shown = window();
  const uint64_t at = kBegin + 250 * kWindowMs;
  REQUIRE(shown.zoom(0.5, at));
  CHECK(shown.shown().ns() == 500 * kWindowMs);
  CHECK(at - shown.shown().begin_ns == 125 * kWindowMs);
}

TEST_CASE("neither zoom nor pan leaves the run, or shows less than a pixel can tell") {
  TimeWindow shown = window();
  CHECK(!shown.zoom(2, kBegin));
  CHECK(!shown.pan(1));
  for (int i = 0; i < 200; ++i) shown.zoom(0.5, kWhole.end_ns - 1);
  CHECK(shown.shown().ns() == TimeWindow::kShortest);
  CHECK(shown.shown().end_ns <= kWhole.end_ns);
  shown.show({kBegin + 100 * kWindowMs, kBegin + 200 * kWindowMs});
  CHECK(shown.pan(100));
  CHECK(shown.shown() == TimeRange{kBegin + 900 * kWindowMs, kBegin + 1000 * kWindowMs});
  CHECK(shown.pan(-100));
  CHECK(shown.shown().begin_ns == kBegin);
}

TEST_CASE("steps are undone one by one, those of a gesture together") {
  TimeWindow shown = window();
  shown.show({kBegin, kBegin + 500 * kWindowMs});
  shown.zoom(0.5, kBegin);
  shown.zoom(0.5, kBegin, TimeWindow::Step::Continued);
  CHECK(shown.undo());
  CHECK(shown.shown() == TimeRange{kBegin, kBegin + 500 * kWindowMs});
  CHECK(shown.undo());
  CHECK(shown.shown() == kWhole);
  CHECK(!shown.undo());
}

TEST_CASE("a window of no time stays where it is") {
  TimeWindow shown;
  shown.set_whole({5, 5});
  CHECK(!shown.zoom(0.5, 5));
  CHECK(!shown.pan(1));
  CHECK(shown.shown() == TimeRange{5, 5});
}

TEST_CASE("ticks are round times from the run's begin") {
  const std::vector<Tick> all = ticks(kWhole, kBegin, 5);
  REQUIRE(all.size() == 5);
  CHECK(all[0].label == "0.0 s");
  CHECK(all[1].label == "0.2 s");
  CHECK(all[1].time_ns == kBegin + 200 * kWindowMs);
  const std::vector<Tick> some = ticks({kBegin + 7, kBegin + 1007}, kBegin, 4);
  REQUIRE(some.size() == 2);
  CHECK(some[0].label == "0.0000005 s");
}

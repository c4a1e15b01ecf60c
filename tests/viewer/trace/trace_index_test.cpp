#include "viewer/trace/trace_index.h"

#include <catch2/catch.hpp>

#include "tests/viewer/database_folder.h"
#include "tests/viewer/trace/random_traces.h"
#include "viewer/trace/index_builder.h"

using namespace prof;
using namespace prof::viewer;

namespace {

Times by_records(const std::vector<test::Segment>& segments, uint32_t contexts, uint64_t begin,
                 uint64_t end) {
  Times times(contexts);
  for (const test::Segment& segment : segments) {
    const uint64_t from = std::max(segment.begin_ns, begin), to = std::min(segment.end_ns, end);
    if (from < to) times.add(segment.context, to - from);
  }
  return times;
}

}  // namespace

TEST_CASE("times of any range are those of its records, at every level and edge") {
  // No record, one record, one block, block boundaries, and up to five levels.
  const std::vector<size_t> sizes{0, 1, 2, 256, 257, 258, 1025, 5000, 70'000};
  const test::DatabaseFolder folder(test::traced_database(sizes, 7));
  const Database database = read_database(folder.path());
  const auto traces = std::make_shared<const MappedTraces>(database);
  REQUIRE(traces->rows() == sizes.size());
  BuildProgress progress;
  const auto index = build_index(traces, 2, progress);
  REQUIRE(index);
  CHECK(progress.segments_done == traces->all_segments());
  std::mt19937 random(1);
  for (size_t row = 0; row < traces->rows(); ++row) {
    const std::vector<test::Segment> segments = test::segments_of(database.traces[traces->profile(row)]);
    REQUIRE(traces->segments(row) == segments.size());
    const auto some_time = [&] {
      if (segments.empty()) return test::kTracesBegin + random() % 1'000'000;
      const test::Segment& segment = segments[random() % segments.size()];
      return segment.begin_ns + (random() % 3 == 0 ? random() % (segment.end_ns - segment.begin_ns + 2) : 0);
    };
    for (int i = 0; i < 60; ++i) {
      uint64_t begin = some_time(), end = some_time();
      if (i == 0) begin = 0, end = UINT64_MAX;
      if (begin > end) std::swap(begin, end);
      Times times(traces->contexts());
      index->add_times(row, begin, end, times);
      const Times expected = by_records(segments, traces->contexts(), begin, end);
      REQUIRE(times.idle == expected.idle);
      REQUIRE(times.by_context == expected.by_context);
    }
  }
}

TEST_CASE(
    "under the wall clock a sample has all the time since the one before it, whether its thread had a "
    "processor") {
  Database recorded = test::traced_database({0, 1, 2, 5000}, 7);
  REQUIRE(!recorded.metrics.empty());
  for (const char* metric : {"REALTIME", "CPUTIME"}) {
    CAPTURE(metric);
    recorded.metrics.front().name = metric;
    const bool by_weight = recorded.metrics.front().name == "REALTIME";
    const test::DatabaseFolder folder(recorded);
    const Database database = read_database(folder.path());
    const auto traces = std::make_shared<const MappedTraces>(database);
    CHECK(traces->are_of_wall_clock() == by_weight);
    BuildProgress progress;
    const auto index = build_index(traces, 2, progress);
    REQUIRE(index);
    size_t gaps = 0;
    for (size_t row = 0; row < traces->rows(); ++row) {
      std::vector<test::Segment> segments = test::segments_of(database.traces[traces->profile(row)]);
      for (size_t i = 0; i + 1 < segments.size(); ++i) {
        if (segments[i].context != kNone) continue;
        ++gaps;
        if (by_weight) segments[i].context = segments[i + 1].context;
      }
      Times times(traces->contexts());
      index->add_times(row, 0, UINT64_MAX, times);
      const Times expected = by_records(segments, traces->contexts(), 0, UINT64_MAX);
      CHECK(times.idle == expected.idle);
      CHECK(times.by_context == expected.by_context);
    }
    CHECK(gaps > 0);
  }
}

TEST_CASE("an instant belongs to the segment that has it") {
  const test::DatabaseFolder folder(test::traced_database({3000}, 11));
  const Database database = read_database(folder.path());
  const MappedTraces traces(database);
  const std::vector<test::Segment> segments = test::segments_of(database.traces[0]);
  for (const test::Segment& segment : segments) {
    if (segment.begin_ns == segment.end_ns) continue;
    for (const uint64_t time : {segment.begin_ns, segment.end_ns - 1}) {
      const auto instant = instant_at(traces, 0, time);
      REQUIRE(instant);
      CHECK(instant->context == segment.context);
      CHECK(instant->begin_ns == segment.begin_ns);
      CHECK(instant->end_ns == segment.end_ns);
    }
  }
  CHECK(!instant_at(traces, 0, segments.front().begin_ns - 1));
  CHECK(!instant_at(traces, 0, segments.back().end_ns));
}

TEST_CASE("a database without traces has no rows") {
  Database database = test::traced_database({5}, 1);
  database.traces.clear();
  const test::DatabaseFolder folder(database);
  const Database read = read_database(folder.path());
  const auto traces = std::make_shared<const MappedTraces>(read);
  CHECK(traces->rows() == 0);
  BuildProgress progress;
  CHECK(build_index(traces, 2, progress));
}

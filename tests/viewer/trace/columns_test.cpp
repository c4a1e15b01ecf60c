#include "viewer/trace/columns.h"

#include <catch2/catch.hpp>
#include <map>

#include "tests/viewer/database_folder.h"
#include "tests/viewer/trace/random_traces.h"
#include "viewer/trace/index_builder.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr uint32_t kKeys = 17;

using PixelShares = std::map<std::pair<int, uint32_t>, uint64_t>;

PixelShares columns_by_records(const std::vector<test::Segment>& segments, const PixelScale& scale,
                               const std::vector<uint32_t>& keys) {
  PixelShares shares;
  for (const test::Segment& segment : segments) {
    for (int x = 0; x < scale.pixels(); ++x) {
      const uint64_t from = std::max(segment.begin_ns, scale.edges[static_cast<size_t>(x)]);
      const uint64_t to = std::min(segment.end_ns, scale.edges[static_cast<size_t>(x) + 1]);
      if (from < to) shares[{x, segment.context == kNone ? kNone : keys[segment.context]}] += to - from;
    }
  }
  return shares;
}

}  // namespace

TEST_CASE("the pixels of a row sum up to what it spent, at every zoom") {
  const test::DatabaseFolder folder(test::traced_database({40'000, 3}, 23));
  const Database database = read_database(folder.path());
  const auto traces = std::make_shared<const MappedTraces>(database);
  BuildProgress progress;
  const auto index = build_index(traces, 1, progress);
  REQUIRE(index);
  std::vector<uint32_t> keys(traces->contexts());
  for (uint32_t c = 0; c < keys.size(); ++c) keys[c] = c % kKeys;
  Columns columns;
  const uint64_t begin = traces->begin_ns(), span = traces->end_ns() - begin;
  for (const uint64_t part : {1u, 3u, 50u, 1000u, 20'000u}) {
    for (size_t row = 0; row < traces->rows(); ++row) {
      const PixelScale scale(begin + span / 7 * (part > 1), begin + span / 7 * (part > 1) + span / part, 200);
      columns.fill(*traces, index.get(), row, scale, keys, kKeys);
      Times expected(traces->contexts());
      index->add_times(row, scale.begin_ns(), scale.end_ns(), expected);
      std::vector<uint64_t> wanted(kKeys + 1, 0), got(kKeys + 1, 0);
      for (uint32_t c = 0; c < keys.size(); ++c) wanted[keys[c]] += expected.by_context[c];
      wanted[kKeys] = expected.idle;
      for (int x = 0; x < 200; ++x) {
        uint64_t in_pixel = 0;
        for (const Share& share : columns.pixel(x)) {
          got[share.key == kNone ? kKeys : share.key] += share.ns;
          in_pixel += share.ns;
        }
        // Blocks are divided by entry, each rounded down.
        REQUIRE(in_pixel <=
                scale.edges[static_cast<size_t>(x) + 1] - scale.edges[static_cast<size_t>(x)] + 1024);
      }
      CHECK(got == wanted);
    }
  }
}

TEST_CASE("a pixel of few records has exactly their times") {
  const test::DatabaseFolder folder(test::traced_database({20'000}, 29));
  const Database database = read_database(folder.path());
  const auto traces = std::make_shared<const MappedTraces>(database);
  BuildProgress progress;
  const auto index = build_index(traces, 1, progress);
  std::vector<uint32_t> keys(traces->contexts());
  for (uint32_t c = 0; c < keys.size(); ++c) keys[c] = c % kKeys;
  const uint64_t begin = traces->time(0, 10'000);
  const PixelScale scale(begin, begin + 300 * 20'000, 300);
  Columns columns;
  columns.fill(*traces, index.get(), 0, scale, keys, kKeys);
  PixelShares got;
  for (int x = 0; x < scale.pixels(); ++x)
    for (const Share& share : columns.pixel(x)) got[{x, share.key}] = share.ns;
  CHECK(got == columns_by_records(test::segments_of(database.traces[0]), scale, keys));
}

TEST_CASE("one short task in a long rest is seen at every zoom") {
  Database database = test::traced_database({2}, 1);
  std::vector<TraceRecord> records{{test::kTracesBegin, kNone},
                                   {test::kTracesBegin + 500'000'000, 5},
                                   {test::kTracesBegin + 500'001'000, kNone},
                                   {test::kTracesBegin + 1'000'000'000, 5}};
  database.traces[0] = [records, is_done = false](std::vector<TraceRecord>& block) mutable {
    block = records;
    return is_done = !is_done;
  };
  const test::DatabaseFolder folder(database);
  const Database read = read_database(folder.path());
  const auto traces = std::make_shared<const MappedTraces>(read);
  BuildProgress progress;
  const auto index = build_index(traces, 1, progress);
  const std::vector<uint32_t> keys(traces->contexts(), 0);
  Columns columns;
  for (const int pixels : {1, 10, 1000}) {
    columns.fill(*traces, index.get(), 0, {traces->begin_ns(), traces->end_ns(), pixels}, keys, 1);
    uint64_t ran = 0;
    for (int x = 0; x < pixels; ++x)
      for (const Share& share : columns.pixel(x)) ran += share.key == 0 ? share.ns : 0;
    CHECK(ran == 1000);
  }
}

TEST_CASE("without an index each pixel has what is at its middle") {
  const test::DatabaseFolder folder(test::traced_database({500}, 31));
  const Database database = read_database(folder.path());
  const MappedTraces traces(database);
  const std::vector<uint32_t> keys(traces.contexts(), 0);
  const PixelScale scale(traces.begin_ns(), traces.end_ns(), 100);
  Columns columns;
  columns.fill(traces, nullptr, 0, scale, keys, 1);
  for (int x = 0; x < 100; ++x) {
    const auto i = static_cast<size_t>(x);
    const auto instant = instant_at(traces, 0, scale.edges[i] + (scale.edges[i + 1] - scale.edges[i]) / 2);
    REQUIRE(instant);
    REQUIRE(columns.pixel(x).size() == 1);
    CHECK((columns.pixel(x)[0].key == kNone) == (instant->context == kNone));
  }
}

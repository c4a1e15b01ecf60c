#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>

#include "tests/measurement/raw_extents.h"
#include "tests/measurement/scenario.h"

using namespace prof;
using namespace prof::test;

namespace {

// Returns the size of the longest record, and of all records.
std::pair<size_t, size_t> record_bytes(const std::filesystem::path& path) {
  const std::vector<uint8_t> bytes = file_contents(path);
  size_t longest = 0;
  size_t total = 0;
  for (const RawExtent& extent : raw_extents(bytes)) {
    size_t at = extent.payload() + sizeof(hpcrun::TraceStart);
    for (const size_t end : trace_record_ends(bytes, extent)) {
      longest = std::max(longest, end - at);
      at = end;
    }
    total += extent.length;
  }
  return {longest, total};
}

}  // namespace

TEST_CASE("no record takes more than 12 bytes, whatever the pause and the context") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& thread = recorder.add_thread();
  struct Said {
    uint64_t time;
    uint32_t node;
  };
  std::vector<Said> said;
  uint64_t time = 0;
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    // Pauses of any magnitude, up to years at first.
    const uint64_t step = random.next() >> (i < 5 ? 7 : 24 + random.below(40));
    time += step;
    const auto node = static_cast<uint32_t>(i % 2 == 0 ? 0xfffffff0u : random.below(5));
    REQUIRE(thread.trace.append(time, node));
    said.push_back({time, node});
  }
  recorder.finish();
  CHECK(record_bytes(recorder.path()).first <= 12);

  // The reader knows only the root of these nodes, but times must be right.
  const std::vector<TraceSample> trace = whole_trace(read_measurement(recorder.path()).threads.at(0));
  REQUIRE(trace.size() == said.size());
  for (size_t i = 0; i < trace.size(); ++i) {
    REQUIRE(trace[i].time_ns == quantized(said[i].time));
    REQUIRE(trace[i].node == 0);
  }
}

TEST_CASE("a random walk over 100,000 contexts at 1 kHz takes at most 6 bytes a sample") {
  constexpr uint32_t kContexts = 100'000;
  constexpr unsigned kSamples = 500'000;
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& thread = recorder.add_thread();
  Random random(2);
  uint64_t time = kStartMonotonic;
  for (unsigned i = 0; i < kSamples; ++i) {
    time += 950'000 + random.below(100'000);
    REQUIRE(thread.trace.append(time, static_cast<uint32_t>(1 + random.below(kContexts))));
  }
  recorder.finish();
  const double average = static_cast<double>(record_bytes(recorder.path()).second) / kSamples;
  std::cout << "trace, uniformly random over 100,000 contexts at 1 kHz: " << average << " bytes a sample\n";
  CHECK(average <= 6);
}

TEST_CASE("times never drift and never decrease") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& thread = recorder.add_thread();
  uint64_t time = kStartMonotonic + 1;
  for (int i = 0; i < 50'000; ++i) REQUIRE(thread.trace.append(time += 333, 0));
  REQUIRE(thread.trace.append(time - 1'000'000, 0));  // the clock went backwards
  recorder.finish();
  const std::vector<TraceSample> trace = whole_trace(read_measurement(recorder.path()).threads.at(0));
  REQUIRE(trace.size() == 50'001);
  CHECK(trace[49'999].time_ns == quantized(time));
  CHECK(trace[50'000].time_ns == quantized(time));
  CHECK(std::is_sorted(trace.begin(), trace.end(),
                       [](const TraceSample& a, const TraceSample& b) { return a.time_ns < b.time_ns; }));
}

TEST_CASE("gaps come back where they were and leave the context before them alone") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& thread = recorder.add_thread();
  const hpcrun::FrameKey frame = hpcrun::make_frame(1, 0x40);
  const hpcrun::NodeId node = thread.tree.insert(&frame, 1);
  REQUIRE(thread.trace.append(1'024'000, node));
  REQUIRE(thread.trace.append_gap(9'024'000));
  REQUIRE(thread.trace.append(9'024'000, node));
  REQUIRE(thread.trace.append_gap(3'600'000'000'000));
  recorder.finish();
  const std::vector<TraceSample> trace = whole_trace(read_measurement(recorder.path()).threads.at(0));
  REQUIRE(trace.size() == 4);
  CHECK(trace[0].node == node);
  CHECK(trace[1].node == kTraceGapNode);
  CHECK(trace[1].time_ns == 9'024'000);
  CHECK(trace[2].node == node);
  CHECK(trace[2].time_ns == 9'024'000);
  CHECK(trace[3].node == kTraceGapNode);
  CHECK(trace[3].time_ns == 3'600'000'000'000);
}

TEST_CASE("blocks of any size read the same trace, and a reader outlives its measurement") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& thread = recorder.add_thread();
  Scenario scenario(3);
  for (int i = 0; i < 20'000; ++i) REQUIRE(record(thread, scenario.next()));
  recorder.finish();
  const std::vector<TraceSample> whole = whole_trace(read_measurement(recorder.path()).threads.at(0));
  REQUIRE(whole.size() == 20'000);
  for (const size_t block : {1, 2, 7, 4096, 100'000}) {
    TraceReader reader = read_measurement(recorder.path()).threads.at(0).trace();
    std::vector<TraceSample> part(block);
    size_t at = 0;
    while (const size_t count = reader.read(part)) {
      for (size_t i = 0; i < count; ++i, ++at) {
        REQUIRE(part[i].time_ns == whole[at].time_ns);
        REQUIRE(part[i].node == whole[at].node);
      }
    }
    CHECK(at == whole.size());
  }
}

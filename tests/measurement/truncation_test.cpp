#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/long.h"
#include "tests/measurement/raw_extents.h"
#include "tests/measurement/scenario.h"

using namespace prof;
using namespace prof::test;
using hpcrun::StreamKind;

namespace {

// The contents of one published record, and the position of its last byte.
struct Placed {
  size_t end;
  uint64_t index;  // node id, cell index, or trace record index
};

struct Places {
  std::vector<Placed> nodes, cells, trace;
  explicit Places(const std::vector<uint8_t>& bytes) {
    for (const RawExtent& extent : raw_extents(bytes)) {
      if (extent.kind == StreamKind::Nodes) {
        for (size_t at = 16; at <= extent.length; at += 16) {
          nodes.push_back({extent.payload() + at, extent.first + at / 16 - 1});
        }
      } else if (extent.kind == StreamKind::Values) {
        for (size_t at = 24; at <= extent.length; at += 24)
          cells.push_back({extent.payload() + at, cells.size()});
      } else if (extent.kind == StreamKind::Trace) {
        for (const size_t end : trace_record_ends(bytes, extent)) trace.push_back({end, trace.size()});
      }
    }
  }
  static size_t before(const std::vector<Placed>& all, size_t cut) {
    return static_cast<size_t>(
        std::partition_point(all.begin(), all.end(), [&](const Placed& one) { return one.end <= cut; }) -
        all.begin());
  }
};

// Truncates the file step by step, and compares each time with the contents of the whole file. Five has no
// factor in common with the sizes of records, so these are cut at all their bytes even if not every length is
// tried.
void check_every_cut(const std::filesystem::path& path) {
  const std::vector<uint8_t> bytes = file_contents(path);
  const Places places(bytes);
  const ProcessMeasurement whole = read_measurement(path);
  const MeasuredThread& truth = whole.threads.at(0);
  const std::vector<TraceSample> true_trace = whole_trace(truth);
  REQUIRE(places.nodes.size() + 1 == truth.nodes.size());
  REQUIRE(places.cells.size() == truth.cells.size());
  REQUIRE(places.trace.size() == true_trace.size());
  REQUIRE(raw_extents(bytes).size() >= 6);

  const size_t header = get<hpcrun::FileHeader>(bytes, 0).header_bytes;
  unsigned wrong = 0;
  for (size_t cut = bytes.size() - 1; cut >= header; cut -= step_of(5)) {
    std::filesystem::resize_file(path, cut);
    const ProcessMeasurement read = read_measurement(path);
    const size_t nodes = Places::before(places.nodes, cut);
    const size_t cells = Places::before(places.cells, cut);
    const size_t trace = Places::before(places.trace, cut);
    if (read.threads.empty()) {
      wrong += nodes + cells + trace != 0;
      continue;
    }
    const MeasuredThread& thread = read.threads[0];
    wrong += thread.nodes.size() != nodes + 1 || thread.cells.size() != cells;
    for (size_t i = 0; i < std::min(thread.nodes.size(), nodes + 1); ++i) {
      wrong +=
          thread.nodes[i].frame != truth.nodes[i].frame || thread.nodes[i].parent != truth.nodes[i].parent;
    }
    for (size_t i = 0; i < std::min(thread.cells.size(), cells); ++i) {
      const uint32_t node = truth.cells[i].node <= nodes ? truth.cells[i].node : 0;
      wrong += thread.cells[i].node != node || thread.cells[i].metric != truth.cells[i].metric ||
               thread.cells[i].samples != truth.cells[i].samples ||
               thread.cells[i].value != truth.cells[i].value;
    }
    const std::vector<TraceSample> samples = whole_trace(thread);
    wrong += samples.size() != trace;
    for (size_t i = 0; i < std::min(samples.size(), trace); ++i) {
      const bool known = true_trace[i].node == kTraceGapNode || true_trace[i].node <= nodes;
      wrong +=
          samples[i].time_ns != true_trace[i].time_ns || samples[i].node != (known ? true_trace[i].node : 0);
    }
    if (wrong != 0) FAIL("cut at " << cut << " of " << bytes.size());
  }
  CHECK(wrong == 0);
}

constexpr int kSteps = 1500;  // fills the first extent of each stream and starts the next

}  // namespace

TEST_CASE("a sealed file cut at any byte gives everything before the cut") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  Scenario scenario(7);
  RecordedThread& thread = recorder.add_thread();
  for (int i = 0; i < kSteps; ++i) REQUIRE(record(thread, scenario.next()));
  recorder.finish();
  check_every_cut(recorder.path());
}

TEST_CASE("a file that was never ended, cut at any byte, gives everything before the cut") {
  TemporaryDirectory directory;
  const std::filesystem::path copy = directory / "copy.prof";
  {
    Recorder recorder(directory / "a.prof");
    Scenario scenario(8);
    RecordedThread& thread = recorder.add_thread();
    for (int i = 0; i < kSteps; ++i) REQUIRE(record(thread, scenario.next()));
    // The reservation after the last extent contains nothing to truncate.
    const std::vector<uint8_t> bytes = file_contents(recorder.path());
    const RawExtent last = raw_extents(bytes).back();
    std::filesystem::copy_file(recorder.path(), copy);
    std::filesystem::resize_file(copy, last.offset + last.bytes);
  }
  check_every_cut(copy);
}

TEST_CASE("truncation is said") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  Scenario scenario(9);
  RecordedThread& thread = recorder.add_thread();
  for (int i = 0; i < kSteps; ++i) REQUIRE(record(thread, scenario.next()));
  recorder.finish();
  const uint64_t full = std::filesystem::file_size(recorder.path());
  std::filesystem::resize_file(recorder.path(), full - 4096);
  const ProcessMeasurement read = read_measurement(recorder.path());
  REQUIRE_FALSE(read.warnings.empty());
  CHECK(read.warnings[0] == "the file is truncated: " + std::to_string(full - 4096) + " of " +
                                std::to_string(full) + " bytes are left");
}

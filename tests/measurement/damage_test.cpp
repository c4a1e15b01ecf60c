#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <tuple>

#include "tests/long.h"
#include "tests/measurement/raw_extents.h"
#include "tests/measurement/scenario.h"

using namespace prof;
using namespace prof::test;
using hpcrun::StreamKind;

namespace {

// A file that can be changed in place while it is read.
class WritableFile {
 public:
  explicit WritableFile(const std::filesystem::path& path) : size_(std::filesystem::file_size(path)) {
    const int descriptor = ::open(path.c_str(), O_RDWR);
    bytes_ = static_cast<uint8_t*>(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    ::close(descriptor);
  }
  ~WritableFile() { ::munmap(bytes_, size_); }
  WritableFile(const WritableFile&) = delete;
  WritableFile& operator=(const WritableFile&) = delete;
  uint8_t& operator[](size_t offset) { return bytes_[offset]; }

 private:
  size_t size_;
  uint8_t* bytes_;
};

using Cell = std::tuple<uint32_t, uint16_t, uint64_t, uint64_t>;
using Sample = std::pair<uint64_t, uint32_t>;

// The contents of a thread's streams, in a form that does not depend on lost parts.
struct Contents {
  std::vector<MeasuredNode> nodes;
  std::vector<Cell> cells;
  std::vector<Sample> trace;  // without gaps
  Contents() = default;
  explicit Contents(const MeasuredThread& thread) : nodes(thread.nodes) {
    for (const MeasuredCell& cell : thread.cells) {
      cells.emplace_back(cell.node, cell.metric, cell.samples, cell.value);
    }
    for (const TraceSample& sample : whole_trace(thread)) {
      if (sample.node != kTraceGapNode) trace.emplace_back(sample.time_ns, sample.node);
    }
  }
};

// The truth about one extent: which part of its thread's contents may be missing if it is damaged.
struct Part {
  RawExtent raw;
  size_t begin = 0;  // nodes: ids; values: cells; trace: samples without gaps
  size_t end = 0;
};

std::vector<Part> parts_of(const std::vector<uint8_t>& bytes, const std::vector<Contents>& truth) {
  std::vector<Part> parts;
  std::vector<size_t> cells(truth.size()), trace(truth.size());
  for (const RawExtent& raw : raw_extents(bytes)) {
    Part part{raw};
    if (raw.kind == StreamKind::Nodes) {
      part.begin = raw.first;
      part.end = raw.first + raw.length / sizeof(hpcrun::NodeRecord);
    } else if (raw.kind == StreamKind::Values) {
      part.begin = cells[raw.thread];
      part.end = cells[raw.thread] += raw.length / sizeof(hpcrun::ValueCell);
    } else if (raw.kind == StreamKind::Trace) {
      size_t at = raw.payload() + sizeof(hpcrun::TraceStart);
      part.begin = trace[raw.thread];
      for (const size_t end : trace_record_ends(bytes, raw)) {
        trace[raw.thread] += bytes[at] != hpcrun::kTraceGap;
        at = end;
      }
      part.end = trace[raw.thread];
    }
    parts.push_back(part);
  }
  return parts;
}

// True if every element of `truth` outside [begin, end) is in `read` in order, and no other elements are.
template <typename T>
bool lost_only(const std::vector<T>& truth, const std::vector<T>& read, size_t begin, size_t end) {
  size_t at = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    if (at < read.size() && read[at] == truth[i]) {
      ++at;
    } else if (i < begin || i >= end) {
      return false;
    }
  }
  return at == read.size();
}

bool nodes_lost_only(const Contents& truth, const Contents& read, size_t begin, size_t end) {
  for (size_t id = 0; id < truth.nodes.size(); ++id) {
    const bool there = id < read.nodes.size();
    const bool same = there && read.nodes[id].frame == truth.nodes[id].frame &&
                      read.nodes[id].parent == truth.nodes[id].parent;
    const bool lost = !there || (read.nodes[id].frame == kLostFrame && read.nodes[id].parent == 0);
    if (!same && !(lost && id >= begin && id < end)) return false;
  }
  return read.nodes.size() <= truth.nodes.size();
}

// Cells and samples of contexts that were lost at the end of the tree count for the root.
void follow_lost_nodes(Contents& truth, size_t node_count) {
  for (Cell& cell : truth.cells) {
    if (std::get<0>(cell) >= node_count) std::get<0>(cell) = 0;
  }
  for (Sample& sample : truth.trace) {
    if (sample.second >= node_count) sample.second = 0;
  }
}

struct Recorded {
  TemporaryDirectory directory;
  Recorder recorder{directory / "a.prof"};
  explicit Recorded(bool sealed) {
    recorder.file.write_metric({0, "CPUTIME", "sec", 1e-9, "clock", 1000, ""});
    recorder.file.write_module(1, "/usr/bin/app", 0x400000, 0x500000, 0, nullptr, 0);
    recorder.add_thread();
    recorder.add_thread();
    Scenario first(21), second(22);
    for (int i = 0; i < 1700; ++i) {
      if (i % 4 == 0) record(recorder.threads[0], first.next());
      record(recorder.threads[1], second.next());
    }
    if (sealed) recorder.finish();
  }
};

void check_flips(const Recorded& recorded, bool payload_too) {
  const std::filesystem::path path = recorded.recorder.path();
  const std::vector<uint8_t> bytes = file_contents(path);
  const ProcessMeasurement whole = read_measurement(path);
  std::vector<Contents> truth;
  for (const MeasuredThread& thread : whole.threads) truth.emplace_back(thread);
  REQUIRE(truth.size() == 2);
  const std::vector<Part> parts = parts_of(bytes, truth);
  REQUIRE(parts.size() >= 9);

  WritableFile file(path);
  unsigned flips = 0;
  for (const Part& part : parts) {
    if (part.raw.kind == StreamKind::Process) continue;
    const size_t end =
        payload_too && part.raw.sealed ? part.raw.payload() + part.raw.length : part.raw.payload();
    for (size_t at = part.raw.offset; at < end; at += at < part.raw.payload() ? 1 : step_of(5)) {
      file[at] ^= static_cast<uint8_t>(1u << (at % 8));
      const ProcessMeasurement read = read_measurement(path);
      file[at] = bytes[at];
      ++flips;
      bool fine = read.threads.size() == 2 && read.metrics.size() == 1 && read.modules.size() == 1;
      for (size_t t = 0; fine && t < 2; ++t) {
        const Contents now(read.threads[t]);
        Contents followed;
        const bool hit = part.raw.thread == t;
        const auto range = [&](StreamKind kind) {
          return hit && part.raw.kind == kind ? std::pair{part.begin, part.end}
                                              : std::pair{size_t{0}, size_t{0}};
        };
        const auto [node_begin, node_end] = range(StreamKind::Nodes);
        const auto [cell_begin, cell_end] = range(StreamKind::Values);
        const auto [trace_begin, trace_end] = range(StreamKind::Trace);
        fine = nodes_lost_only(truth[t], now, node_begin, node_end);
        if (now.nodes.size() < truth[t].nodes.size()) {
          followed = truth[t];
          follow_lost_nodes(followed, now.nodes.size());
        }
        const Contents& expected = now.nodes.size() < truth[t].nodes.size() ? followed : truth[t];
        fine = fine && lost_only(expected.cells, now.cells, cell_begin, cell_end) &&
               lost_only(expected.trace, now.trace, trace_begin, trace_end);
      }
      if (!fine)
        FAIL("flip at " << at << ", in the " << (at < part.raw.payload() ? "header" : "payload")
                        << " of the extent at " << part.raw.offset);
    }
  }
  CHECK(flips >= (parts.size() - 1) * sizeof(hpcrun::ExtentHeader));
}

}  // namespace

TEST_CASE("a flipped byte in the header or payload of a sealed extent loses that extent at most") {
  check_flips(Recorded(true), true);
}

TEST_CASE("a flipped byte in the header of an extent that was still open loses that extent at most") {
  check_flips(Recorded(false), false);
}

TEST_CASE("a damaged extent is named, and the time it covered becomes a gap") {
  const Recorded recorded(true);
  const std::filesystem::path path = recorded.recorder.path();
  const std::vector<uint8_t> bytes = file_contents(path);
  const std::vector<RawExtent> extents = raw_extents(bytes);
  std::vector<RawExtent> traces;
  std::copy_if(extents.begin(), extents.end(), std::back_inserter(traces),
               [](const RawExtent& e) { return e.kind == StreamKind::Trace && e.thread == 1; });
  REQUIRE(traces.size() >= 2);
  const std::vector<TraceSample> before = whole_trace(read_measurement(path).threads[1]);
  const size_t lost = trace_record_ends(bytes, traces[0]).size();

  WritableFile file(path);
  file[traces[0].payload() + 100] ^= 1;
  const ProcessMeasurement read = read_measurement(path);
  REQUIRE(read.warnings.size() == 1);
  CHECK(read.warnings[0] == "extent at offset " + std::to_string(traces[0].offset) +
                                " (thread 1, trace) is damaged: its checksum does not match");
  const std::vector<TraceSample> after = whole_trace(read.threads[1]);
  REQUIRE(after.size() == before.size() - lost + 1);
  CHECK(after[0].node == kTraceGapNode);
  CHECK(after[0].time_ns == before[lost - 1].time_ns);
  CHECK(after[1].time_ns == before[lost].time_ns);
  CHECK(after[1].node == before[lost].node);
}

TEST_CASE("a flipped byte in a process record loses that record alone") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  for (uint16_t id = 1; id <= 20; ++id) {
    recorder.file.write_module(id, ("/lib/number" + std::to_string(id)).c_str(), id, id + 1u, id, nullptr, 0);
  }
  recorder.finish();
  const RawExtent extent = raw_extents(file_contents(recorder.path())).at(0);
  WritableFile file(recorder.path());
  for (size_t at = extent.payload(); at < extent.payload() + extent.length; ++at) {
    file[at] ^= 0x10;
    const ProcessMeasurement read = read_measurement(recorder.path());
    file[at] ^= 0x10;
    REQUIRE(read.modules.size() == 19);
    for (const MeasuredModule& module : read.modules) {
      REQUIRE(module.path == "/lib/number" + std::to_string(module.id));
      REQUIRE(module.start == module.id);
    }
  }
}

TEST_CASE("an extent whose header was never written hides none of those behind it") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& thread = recorder.add_thread();
  Scenario scenario(3);
  for (int i = 0; i < 2000; ++i) record(thread, scenario.next());
  recorder.file.write_note("behind");
  recorder.finish();
  const RawExtent extent = raw_extents(file_contents(recorder.path())).at(2);
  WritableFile file(recorder.path());
  for (size_t at = extent.offset; at < extent.offset + extent.bytes; ++at) file[at] = 0;
  const ProcessMeasurement read = read_measurement(recorder.path());
  CHECK(texts(read.notes) == std::vector<std::string>{"behind"});
  CHECK(read.warnings.size() == 1);
}

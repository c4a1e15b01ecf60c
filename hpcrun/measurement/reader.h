#pragma once
// Reads measurement files on the analysis side (docs/formats.md). Robust against any bytes: what is damaged
// is left out and named in `warnings`; only a file in which nothing can be found is an error. Reading is
// thread-safe for different threads' traces once read_measurement() has returned.

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "hpcrun/measurement/format.h"

namespace prof {

class MeasurementError : public std::runtime_error {
 public:
  enum class Kind {
    CannotOpen,
    Empty,
    NotAMeasurement,
    UnsupportedVersion,
    DamagedHeader,
  };
  MeasurementError(Kind kind, const std::string& line) : std::runtime_error(line), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

struct MeasuredProcess {
  std::string command;
  std::string executable;
  std::string host;
  std::string environment;  // NAME=value lines
  int32_t pid = 0;
  int32_t parent_pid = 0;
  int32_t rank = -1;
  uint64_t start_realtime_ns = 0;
  uint64_t start_monotonic_ns = 0;
  uint64_t end_monotonic_ns = 0;  // 0: did not end normally (or is still running)
  uint64_t seen_until_ns = 0;     // the least that it lived for, as the analysis finds it; 0: not known
};

struct MeasuredMetric {
  uint16_t id = 0;
  std::string name;
  std::string unit;
  std::string source;
  std::string note;
  double scale = 1;  // stored value * scale = value in unit
  double requested_hz = 0;
};

struct MeasuredModule {
  uint16_t id = 0;
  std::string path;
  std::vector<uint8_t> build_id;
  uint64_t start = 0;  // mapped range, [start, end)
  uint64_t end = 0;
  uint64_t load_bias = 0;
};

// Index in MeasuredThread::nodes is the node's id. nodes[0] is the root (parent 0, frame 0). A parent's id is
// always smaller than its children's.
struct MeasuredNode {
  uint32_t parent = 0;
  uint64_t frame = 0;  // FrameKey; kLostFrame where the node was lost to damage
};
constexpr uint64_t kLostFrame = 0;

struct MeasuredCell {
  uint32_t node = 0;  // a valid index into nodes
  uint16_t metric = 0;
  uint64_t samples = 0;
  uint64_t value = 0;
};

// A call in which the thread waited, and no sample came, when the process ended or was last seen.
struct MeasuredWait {
  uint32_t node = 0;  // a valid index into nodes
  uint16_t metric = 0;
  uint64_t since_ns = 0;   // CLOCK_MONOTONIC
  uint64_t paused_ns = 0;  // how long measuring had been paused by then
};

// A sample: `node` was current at time_ns. A gap (node == kTraceGapNode): nothing ran on this thread from the
// record before it to time_ns, or that part of the trace was lost.
struct TraceSample {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC of the measured machine, never decreasing
  uint32_t node = 0;     // a valid index into nodes, 0 where the node was lost; or kTraceGapNode
};
constexpr uint32_t kTraceGapNode = UINT32_MAX;

struct TraceExtent {
  const uint8_t* payload = nullptr;  // in the mapped file
  uint32_t bytes = 0;
  bool follows_loss = false;  // one or more extents before this one were lost
};

// Streams one thread's trace in order. Copying it copies the position. Keeps the file mapped.
class TraceReader {
 public:
  // Fills `out` from its start; the number of records written, 0 at the end.
  size_t read(std::span<TraceSample> out);

 private:
  friend struct MeasuredThread;
  bool open_next_extent();

  std::shared_ptr<const void> file_;
  std::shared_ptr<const std::vector<TraceExtent>> extents_;
  uint64_t quantum_ns_ = 1;
  uint32_t node_count_ = 1;
  size_t next_extent_ = 0;
  const uint8_t* next_ = nullptr;
  const uint8_t* end_ = nullptr;
  uint64_t time_ = 0;  // in quanta
  uint32_t node_ = 0;
  bool gap_pending_ = false;
};

struct MeasuredThread {
  uint32_t index = 0;  // in the process, 0 = main thread
  int32_t tid = -1;    // -1: its start record was lost
  std::string name;    // the last one it was seen to have
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;  // 0: its end was not recorded
  uint64_t cpu_ns = 0;
  std::vector<MeasuredNode> nodes;
  std::vector<MeasuredCell> cells;
  std::vector<MeasuredWait> waits;
  std::shared_ptr<const std::vector<TraceExtent>> trace_extents;
  uint64_t trace_bytes = 0;  // encoded
  std::shared_ptr<const void> file;
  uint64_t quantum_ns = 1;

  TraceReader trace() const;  // may outlive this object
};

struct ProcessMeasurement {
  std::filesystem::path file;
  MeasuredProcess process;
  std::vector<MeasuredMetric> metrics;  // sorted by id
  std::vector<MeasuredModule> modules;  // sorted by id
  std::vector<MeasuredThread> threads;  // sorted by index
  std::vector<std::string> notes;       // degradations that the runtime recorded
  std::vector<std::string> warnings;    // damage found while reading
  std::array<uint64_t, hpcrun::kCounterSlots> counters{};
  std::array<uint64_t, hpcrun::kStackReasonSlots> stack_reasons{};
  uint64_t file_bytes = 0;
  uint32_t owner = 0;  // user id of the file's owner: who was measured

  uint64_t counter(hpcrun::Counter which) const { return counters[static_cast<size_t>(which)]; }
};

// Throws MeasurementError with one line that names the file.
ProcessMeasurement read_measurement(const std::filesystem::path& path);

// Only file, process, counters, stack_reasons and owner, which takes no longer for a large file. Throws as
// above.
ProcessMeasurement read_measurement_header(const std::filesystem::path& path);

}  // namespace prof

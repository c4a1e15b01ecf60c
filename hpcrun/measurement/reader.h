#pragma once
// Reads measurement files for the analysis (docs/formats.md). Robust against any bytes: damaged parts are
// left out and reported in `warnings`. Only a file without any readable part is an error. Once
// read_measurement() has returned, different threads' traces can be read concurrently.

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hpcrun/measurement/format.h"
#include "hpcrun/measurement/stored_file.h"

namespace prof {

class MeasurementError : public std::runtime_error {
 public:
  enum class Kind {
    CannotOpen,
    Empty,
    NotAMeasurement,
    UnsupportedVersion,
    DamagedHeader,
    DamagedMember,
  };
  MeasurementError(Kind kind, const std::string& line) : std::runtime_error(line), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

// The time that a node's clock loses relative to the reference clock of the run. The loss is linear between
// two times of CLOCK_MONOTONIC, zero before and constant after. Set by the analysis.
struct ClockDrift {
  uint64_t from_ns = 0;
  uint64_t until_ns = 0;
  int64_t lost_ns = 0;
};

struct MeasuredProcess {
  std::string command;
  std::string executable;
  std::string host;
  std::string environment;  // NAME=value lines
  int32_t pid = 0;
  int32_t parent_pid = 0;
  int32_t rank = -1;
  int32_t ranks = 0;  // as MPI reports; 0: not asked
  uint64_t start_realtime_ns = 0;
  uint64_t start_monotonic_ns = 0;
  uint64_t end_monotonic_ns = 0;  // 0: did not end normally (or is still running)
  uint64_t seen_until_ns = 0;     // a lower bound of its end, set by the analysis; 0: not known
  ClockDrift drift;
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
  hpcrun::FileIdentity file{};
};

// Index in MeasuredThread::nodes is the node's id. nodes[0] is the root (parent 0, frame 0). A parent's id is
// always smaller than its children's.
struct MeasuredNode {
  uint32_t parent = 0;
  uint64_t frame = 0;  // FrameKey; kLostFrame if the node was lost to damage
};
constexpr uint64_t kLostFrame = 0;

struct MeasuredCell {
  uint32_t node = 0;  // a valid index into nodes
  uint16_t metric = 0;
  uint64_t samples = 0;
  uint64_t value = 0;
};

// A call in which the thread was waiting, without samples, when the process ended or was last observed.
struct MeasuredWait {
  uint32_t node = 0;  // a valid index into nodes
  uint16_t metric = 0;
  uint64_t since_ns = 0;   // CLOCK_MONOTONIC
  uint64_t paused_ns = 0;  // how long measuring had been paused by then
};

// A sample: `node` was current at time_ns. A gap (node == kTraceGapNode): nothing ran on this thread from the
// previous record to time_ns, or that part of the trace was lost.
struct TraceSample {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC of the measured machine, never decreasing
  uint32_t node = 0;     // a valid index into nodes, 0 if the node was lost; or kTraceGapNode
};
constexpr uint32_t kTraceGapNode = UINT32_MAX;

// A task that a device queue executed. Times are CLOCK_MONOTONIC in ns.
struct DeviceTask {
  uint64_t submit_ns = 0;
  uint64_t start_ns = 0;  // not before submit_ns
  uint64_t end_ns = 0;    // not before start_ns
  uint32_t node = 0;      // a valid index into the queue's nodes, 0 if the node was lost
  uint32_t thread = 0;    // index of the thread that submitted it, which may be missing from the measurement
  // The time that the task represents: its own. In a sampled trace: the periods in which it was seen.
  uint64_t stands_from_ns = 0;
  uint64_t stands_until_ns = 0;  // not before stands_from_ns
  bool is_sampled = false;
};

// A wait of a thread for devices, and the parts of it that no task covered. Their sum does not exceed the
// wait.
struct DeviceWait {
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  uint64_t end_ns = 0;    // not before begin_ns
  uint64_t launch_latency_ns = 0;
  uint64_t gap_ns = 0;
  uint64_t wake_latency_ns = 0;
  uint32_t node = 0;  // a valid index into the thread's nodes, 0 if the node was lost
};

// Memory that a thread used while other threads used it as well.
struct MeasuredAccess {
  uint64_t time_ns = 0;    // CLOCK_MONOTONIC
  uint64_t weight_ns = 0;  // CPU time that a sample represents; 0: not a sample
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t bits = 0;    // hpcrun::kAccess...
  uint64_t object = 0;  // id + 1 of a MeasuredObject, which may be lost; or 0
  uint32_t node = 0;    // a valid index into the thread's nodes, 0 if the node was lost
};

// An allocation that contains such accesses.
struct MeasuredObject {
  uint64_t id = 0;
  uint64_t begin = 0;
  uint64_t bytes = 0;    // 0: not known
  uint64_t born_ns = 0;  // CLOCK_MONOTONIC; 0: not known
  uint64_t died_ns = 0;  // 0: it was not released, as far as is known
  // Index of the thread whose tree contains the context of its allocation; it may be lost.
  uint32_t thread = 0;
  uint32_t node = 0;   // that context
  uint64_t align = 0;  // the alignment requested for its address; 0: not known
};

// Bytes of a cache line that a thread changed while others changed the line as well (docs/formats.md,
// "Process records").
struct MeasuredWritten {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC of the end of the period
  uint32_t thread = 0;   // index; it may be lost
  uint64_t line = 0;     // address
  uint64_t bytes = 0;    // one bit per byte, from the start of the line; at least one is set
  uint64_t object = 0;   // id + 1 of a MeasuredObject, which may be lost; or 0
  uint64_t updates = 0;  // these four as in hpcrun::WrittenRecord
  uint64_t interleaved = 0;
  uint64_t true_sharing = 0;
  uint64_t false_sharing = 0;
};

// A repair made while the program ran, or one that was declined (docs/formats.md, "Process records").
struct MeasuredRepair {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  hpcrun::RepairKind kind{};
  // Index of the thread whose tree contains the context of the allocation; it may be lost.
  uint32_t thread = 0;
  uint32_t node = 0;   // that context; 0: not known
  uint64_t bytes = 0;  // size that the site requests; 0: it varies
  uint32_t align = 0;  // a Placement (hpcrun/model/placement.h)
  uint32_t offset = 0;
  uint32_t pad = 0;
  uint32_t plan_entry = 0;  // index in the repair plan + 1; 0: not from a plan
  uint64_t conflicts = 0;   // accesses that conflicted in the original layout, and
  uint64_t remaining = 0;   // with the placement
  uint64_t address = 0;     // of the line, the lock or the page
};

// A context in which a thread waited for other threads, or that is blamed for that (docs/formats.md,
// "Locks").
struct MeasuredLockCell {
  uint64_t object = 0;  // address of the object waited for
  uint32_t thread = 0;  // index of the thread that the node belongs to, which exists
  uint32_t node = 0;    // a valid index into its nodes
  hpcrun::LockKind kind{};
  hpcrun::LockRole role{};
  uint64_t waits = 0;  // these three by role, as in hpcrun::LockCell
  uint64_t total_ns = 0;
  uint64_t longest_ns = 0;
  // A wait that had not ended when the process did. The analysis derives it from a cell of role Open.
  bool is_open = false;
  uint64_t since_ns = 0;   // as LockCell::total_ns
  uint64_t holder_id = 0;  // thread id of the lock's holder as the wait began; 0: not known
};

struct TraceExtent {
  const uint8_t* payload = nullptr;  // in the mapped file
  uint32_t bytes = 0;
  bool follows_loss = false;  // one or more extents before this one were lost
};

// Streams one thread's trace in order. Copying it copies the position. Keeps the file mapped.
class TraceReader {
 public:
  // Fills `out` from the start. Returns the number of samples written, 0 at the end.
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

// Streams the records of one stream of intervals (docs/formats.md, "Tasks", "Waits", "Accesses"). The order
// is that of writing, which is roughly that of their ends. Copying it copies the position. Keeps the file
// mapped.
class IntervalReader {
 public:
  static constexpr unsigned kMaxNumbers = hpcrun::kWaitNumbers;
  struct Record {
    uint64_t begin = 0;  // in quanta, as all times
    uint64_t end = 0;
    uint64_t numbers[kMaxNumbers] = {};  // as stored
    uint32_t node = 0;
  };

 private:
  friend struct MeasuredThread;
  template <typename T>
  friend class RecordReader;
  bool next(unsigned numbers, unsigned node_number, Record& out);

  std::shared_ptr<const void> file_;
  std::shared_ptr<const std::vector<TraceExtent>> extents_;
  uint64_t quantum_ns_ = 1;
  uint32_t node_count_ = 1;
  size_t next_extent_ = 0;
  const uint8_t* next_ = nullptr;
  const uint8_t* end_ = nullptr;
  uint64_t time_ = 0;    // end of the last record
  uint32_t node_ = 0;    // of the last record, as stored
  uint32_t period_ = 0;  // TraceStart::period
};

// T: DeviceTask, DeviceWait or MeasuredAccess.
template <typename T>
class RecordReader {
 public:
  explicit RecordReader(IntervalReader intervals) : intervals_(std::move(intervals)) {}
  bool next(T& out);  // returns false at the end

 private:
  IntervalReader intervals_;
};

template <>
bool RecordReader<DeviceTask>::next(DeviceTask& out);
template <>
bool RecordReader<DeviceWait>::next(DeviceWait& out);
template <>
bool RecordReader<MeasuredAccess>::next(MeasuredAccess& out);

enum class TrackKind : uint8_t {
  Thread,
  Queue,   // of device tasks: ProcessMeasurement::queues
  Device,  // has a device's totals at its root: ProcessMeasurement::devices
};

// A WasteCell. Nodes are valid indexes into the trees of threads that exist.
struct MeasuredWasteCell {
  uint32_t first_node = 0, first_thread = 0;
  uint32_t second_node = 0, second_thread = 0;  // node 0: a total
  uint32_t object_node = 0, object_thread = 0;  // node 0: no allocation
  uint64_t address = 0;
  uint32_t access_bytes = 0;
  hpcrun::WasteKind kind{};
  uint8_t flags = 0;
  uint64_t count = 0;
  uint64_t bytes = 0;
};

// A thread of the program, or a queue or device, which has contexts and values in the same form (TrackKind).
struct MeasuredThread {
  uint32_t index = 0;  // in the process, 0 = main thread
  TrackKind kind = TrackKind::Thread;
  int32_t tid = -1;  // -1: its start record was lost
  std::string name;  // the last name that was recorded
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;  // 0: its end was not recorded
  uint64_t cpu_ns = 0;
  uint64_t stack_low = 0, stack_high = 0, pointer = 0;  // ThreadMemoryRecord; 0: not known
  std::vector<MeasuredNode> nodes;
  std::vector<MeasuredCell> cells;
  std::vector<MeasuredWait> waits;
  std::vector<MeasuredLockCell> locks;
  std::vector<MeasuredWasteCell> waste;
  std::shared_ptr<const std::vector<TraceExtent>> trace_extents;
  std::shared_ptr<const std::vector<TraceExtent>> task_extents;  // of a queue
  std::shared_ptr<const std::vector<TraceExtent>> wait_extents;
  std::shared_ptr<const std::vector<TraceExtent>> access_extents;
  uint64_t trace_bytes = 0;  // encoded, of all four
  std::shared_ptr<const void> file;
  uint64_t quantum_ns = 1;

  // These may outlive this object.
  TraceReader trace() const;
  RecordReader<DeviceTask> tasks() const;
  RecordReader<DeviceWait> device_waits() const;
  RecordReader<MeasuredAccess> accesses() const;

 private:
  IntervalReader intervals(const std::shared_ptr<const std::vector<TraceExtent>>& extents) const;
};

struct MeasuredDevice {
  uint16_t index = 0;
  uint32_t track = 0;  // index of the MeasuredThread that has its totals; it may be lost
  uint64_t first_use_ns = 0;
  std::string name;
  std::string uuid;
  std::string api;
  std::string driver;
};

struct MeasuredQueue {
  uint32_t track = 0;   // index of its MeasuredThread, which exists
  uint16_t device = 0;  // its record may be lost
  uint64_t created_ns = 0;
  std::string name;
};

// The name of a task that a device executed.
struct MeasuredSymbol {
  uint64_t frame = 0;  // in hpcrun::kModuleDevice
  std::string name;
};

struct MeasuredNote {
  hpcrun::NoteKind kind =
      hpcrun::NoteKind::ByWords;  // of newer writers also one that this reader does not know
  std::string text;

  bool operator==(const MeasuredNote&) const = default;
};

struct ProcessMeasurement {
  std::filesystem::path file;  // StoredFile::path
  MeasuredProcess process;
  std::vector<MeasuredMetric> metrics;   // sorted by id
  std::vector<MeasuredModule> modules;   // sorted by id
  std::vector<MeasuredThread> threads;   // sorted by index
  std::vector<MeasuredDevice> devices;   // sorted by index
  std::vector<MeasuredQueue> queues;     // sorted by line
  std::vector<MeasuredSymbol> symbols;   // sorted by frame
  std::vector<MeasuredObject> objects;   // sorted by id
  std::vector<MeasuredRepair> repairs;   // sorted by time
  std::vector<MeasuredWritten> written;  // sorted by line
  std::vector<MeasuredNote> notes;       // degradations that the runtime recorded
  std::vector<std::string> warnings;     // damage found while reading
  std::array<uint64_t, hpcrun::kCounterSlots> counters{};
  std::array<uint64_t, hpcrun::kStackReasonSlots> stack_reasons{};
  uint64_t file_bytes = 0;
  uint32_t owner = 0;  // user id of the file's owner: the user that measured

  uint64_t counter(hpcrun::Counter which) const { return counters[static_cast<size_t>(which)]; }
};

// Reads a measurement. Throws MeasurementError with one line that names the file, also if the checksum of a
// member of a container does not match.
ProcessMeasurement read_measurement(const StoredFile& file);
ProcessMeasurement read_measurement(const std::filesystem::path& path);

// Reads only file, process, counters, stack_reasons and owner, which takes no longer for a large file. Throws
// as above.
ProcessMeasurement read_measurement_header(const std::filesystem::path& path);

}  // namespace prof

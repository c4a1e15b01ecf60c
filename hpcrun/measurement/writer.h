#pragma once
// Writes a measurement file from inside the measured process (docs/formats.md has the layout). The file is
// mapped shared extent by extent and its space is reserved before it is touched, so a full disk is an error
// code and never a SIGBUS, and what was published survives the process. Called from handlers and outside;
// async-signal-safe unless said otherwise.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hpcrun/measurement/format.h"
#include "hpcrun/measurement/pause.h"
#include "hpcrun/measurement/space.h"

namespace hpcrun {

struct ProcessInfo {
  const char* command;     // the program's arguments, joined by blanks
  const char* executable;  // resolved path
  const char* host;
  int32_t pid;
  int32_t parent_pid;
  int32_t rank;  // -1 without MPI or Slurm
  uint64_t start_realtime_ns;
  uint64_t start_monotonic_ns;
  const char* environment;  // selected NAME=value lines, '\n' between them
};

struct MetricInfo {
  uint16_t id;
  const char* name;    // "CPUTIME"
  const char* unit;    // "sec"
  double scale;        // stored value * scale = value in unit (1e-9 for nanoseconds)
  const char* source;  // "perf cpu-clock (sigtrap, user+kernel)"
  double requested_hz;
  const char* note;  // a degradation in one sentence, or ""
};

struct DeviceRecordInfo {
  uint16_t device = 0;        // index in the process
  uint32_t line = 0;          // thread index of the line that carries its totals
  uint64_t first_use_ns = 0;  // CLOCK_MONOTONIC
  const char* name = "";      // "NVIDIA H100 PCIe"
  const char* uuid = "";      // the same for each process of the node that uses the device
  const char* api = "";       // "OpenCL"
  const char* driver = "";    // "PoCL 3.1"
};

// Mapped piece of the file that one stream of one thread appends to.
struct MappedExtent {
  ExtentHeader* header = nullptr;
  char* data() const noexcept { return reinterpret_cast<char*>(header) + sizeof(ExtentHeader); }
  size_t capacity = 0;  // bytes behind the header
};

// Place of an extent in its stream.
struct StreamPosition {
  uint32_t sequence = 0;  // counts the stream's extents from 0
  uint64_t first = 0;     // StreamKind::Nodes: id of the first node in it
};

class MeasurementFile {
 public:
  // Holds the first records about the process, about fifty load modules. Later extents are larger.
  static constexpr size_t kFirstRecordExtentBytes = 2 * kPageBytes;

  // Creates the file (O_EXCL, mode 0600-ish by umask) and writes its header. 0, or an errno. Not signal-safe.
  // The descriptor is moved to the top of the descriptor limit with close-on-exec; should the program close
  // it, the file is reopened by name.
  int create(const char* path, const ProcessInfo& process) noexcept;

  // Right after create(): extents can be written from here on by threads that run as processes of their own,
  // which have the file mapped as they began. False: the address space has no room for that.
  bool map_ahead() noexcept { return space_.map_ahead(); }
  void map_less_ahead() noexcept { space_.map_less_ahead(); }

  // Takes `bytes` (rounded up to pages, header included) for a stream. One atomic add and, now and then,
  // an fallocate. False when the disk is full or mapping fails (recording has then stopped for good), after
  // finish(), or in a forked child.
  bool take(StreamKind kind, uint32_t thread, StreamPosition position, size_t bytes,
            MappedExtent& out) noexcept;

  // Checksums an extent to which nothing will be added and unmaps it. No extent: nothing happens.
  void seal_and_unmap(MappedExtent& extent) noexcept;
  void unmap(MappedExtent& extent) noexcept;

  // Records about the process. Callable from any thread; from a handler as well (never waits). Strings are
  // cut at 4,096 bytes.
  void write_metric(const MetricInfo& metric) noexcept;
  void write_module(uint16_t id, const char* path, uint64_t start, uint64_t end, uint64_t load_bias,
                    const uint8_t* build_id, uint32_t build_id_bytes, const FileIdentity& file = {}) noexcept;
  void write_thread_start(uint32_t thread, int32_t tid, uint64_t time_ns, const char* name) noexcept;
  // The thread has this name since `time_ns` at the latest. Few of these: thread_name.h.
  void write_thread_name(uint32_t thread, uint64_t time_ns, const char* name) noexcept;
  void write_thread_end(uint32_t thread, uint64_t time_ns, uint64_t cpu_ns) noexcept;
  void write_note(const char* text) noexcept;  // a degradation, shown by every report
  void write_device(const DeviceRecordInfo& device) noexcept;
  // A queue of a device, whose contexts, values and tasks are those of the thread index `line`.
  void write_queue(uint32_t line, uint16_t device, uint64_t time_ns, const char* name) noexcept;
  // Names a frame of kModuleDevice.
  void write_symbol(uint64_t frame, const char* name) noexcept;

  // An allocation that accesses lie in.
  void write_thread_memory(const ThreadMemoryRecord& memory) noexcept;
  void write_object(const ObjectRecord& object) noexcept;
  void write_object_end(uint64_t object, uint64_t time_ns) noexcept;

  // A thread changed a line that others changed as well.
  void write_written(const WrittenRecord& written) noexcept;

  // Something is laid out anew from now on, or was declined.
  void write_repair(const RepairRecord& repair) noexcept;

  // Live counters of the process, in the file's header page (survive a kill). Always valid: without an open
  // file they count where nobody looks.
  std::atomic<uint64_t>& counter(Counter counter) noexcept { return counters_[static_cast<size_t>(counter)]; }
  PauseSwitch pause_switch() noexcept { return PauseSwitch(counters_); }
  // Live counters per stack reason.
  std::atomic<uint64_t>& stack_counter(uint8_t reason) noexcept {
    return stack_reasons_[reason < kStackReasonSlots ? reason : kStackReasonSlots - 1];
  }

  // First errno after which nothing more is recorded; 0 while all is well.
  int failure() const noexcept { return space_.failure(); }

  // Keeps records about the process in memory until something else is recorded, so that the file of a process
  // without samples is its header, one page. Called right after create(), instead of map_ahead(); only one
  // thread may record until write_records().
  void keep_records() noexcept;
  // Writes the records that are kept. Called before another thread records. Async-signal-safe.
  void write_records() noexcept;

  // Nothing more is recorded, for this errno. Async-signal-safe.
  void stop(int error) noexcept { space_.fail(error); }
  // Whether the file has this inode, also in a forked child that did not abandon() it yet.
  bool is_in_inode(uint64_t inode) const noexcept { return descriptor() >= 0 && space_.inode() == inode; }

  // Trims the reserved space beyond the last extent, at a normal exit. Extents that are mapped stay usable,
  // new ones cannot be taken. Records that are kept in memory are dropped: there were no samples.
  // Async-signal-safe.
  void finish(uint64_t end_monotonic_ns) noexcept;

  // After finish(), in a process that goes on: what is mapped stays, so that a thread on its way may still
  // write.
  void release_descriptor() noexcept { space_.release_descriptor(); }

  // In a forked child, before anything else is called: forgets the parent's file without touching it. The
  // child does not inherit the extents; create() may then open a file of its own.
  void abandon() noexcept;

  const char* path() const noexcept { return space_.path(); }      // absolute
  int descriptor() const noexcept { return space_.descriptor(); }  // -1 when not open
  void replace_descriptor(int from, int to) noexcept { space_.replace_descriptor(from, to); }
  size_t bytes_mapped() const noexcept { return bytes_mapped_.load(std::memory_order_relaxed); }

 private:
  class Record;

  void* map_at(int64_t offset, size_t bytes) noexcept;
  RecordHeader* take_record(size_t bytes) noexcept;
  void drop_kept_records() noexcept;
  static void begin_extent(void* memory, StreamKind kind, uint32_t thread, StreamPosition position,
                           size_t bytes) noexcept;

  FileSpace space_;
  char* header_ = nullptr;
  size_t header_bytes_ = 0;
  std::atomic<ExtentHeader*> records_{nullptr};  // where process records go; extents before it stay mapped
  std::atomic<uint32_t> record_extents_{0};
  std::atomic<ExtentHeader*> kept_records_{nullptr};  // an extent in private memory
  std::atomic<size_t> bytes_mapped_{0};
  std::atomic<uint64_t> unrecorded_[kCounterSlots + kStackReasonSlots] = {};
  std::atomic<uint64_t>* counters_ = unrecorded_;
  std::atomic<uint64_t>* stack_reasons_ = unrecorded_ + kCounterSlots;
};

}  // namespace hpcrun

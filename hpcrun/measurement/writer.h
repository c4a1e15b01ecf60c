#pragma once
// Writes a measurement file from inside the measured process (docs/formats.md describes the layout). The file
// is mapped shared, extent by extent. Its space is reserved before it is touched, so a full disk is an error
// code and never a SIGBUS, and published data survives the process. Called from handlers and outside;
// async-signal-safe unless said otherwise.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hpcrun/measurement/format.h"
#include "hpcrun/measurement/pause.h"
#include "hpcrun/measurement/space.h"

namespace hpcrun {

struct ProcessInfo {
  const char* command;     // the program's arguments, joined by spaces
  const char* executable;  // resolved path
  const char* host;
  int32_t pid;
  int32_t parent_pid;
  int32_t rank;  // -1 without MPI or Slurm
  uint64_t start_realtime_ns;
  uint64_t start_monotonic_ns;
  const char* environment;  // selected NAME=value lines, separated by '\n'
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
  uint32_t track = 0;         // thread index of its totals
  uint64_t first_use_ns = 0;  // CLOCK_MONOTONIC
  const char* name = "";      // "NVIDIA H100 PCIe"
  const char* uuid = "";      // the same for each process of the node that uses the device
  const char* api = "";       // "OpenCL"
  const char* driver = "";    // "PoCL 3.1"
};

// A mapped piece of the file that one stream of one thread appends to.
struct MappedExtent {
  ExtentHeader* header = nullptr;
  [[nodiscard]] char* data() const noexcept { return reinterpret_cast<char*>(header) + sizeof(ExtentHeader); }
  size_t capacity = 0;  // bytes after the header
};

// Position of an extent in its stream.
struct StreamPosition {
  uint32_t sequence = 0;  // number of the extent in the stream, from 0
  uint64_t first = 0;     // StreamKind::Nodes: id of the first node in it
};

class MeasurementFile {
 public:
  // Holds the first records about the process, including about fifty load modules. Later extents are larger.
  static constexpr size_t kFirstRecordExtentBytes = 2 * kPageBytes;

  // Creates the file (O_EXCL, mode 0600, reduced by umask) and writes its header. Returns 0, or an errno. Not
  // async-signal-safe. The descriptor is moved to the top of the descriptor limit with close-on-exec. If the
  // program closes it, the file is reopened by name.
  int create(const char* path, const ProcessInfo& process) noexcept;

  // Lets converted threads write extents: the file is mapped before they are converted. Must be called right
  // after create(). Returns false if the address space has no room for that.
  [[nodiscard]] bool map_ahead() noexcept { return space_.map_ahead(); }
  void map_less_ahead() noexcept { space_.map_less_ahead(); }

  // Takes `bytes` (rounded up to pages, header included) for a stream. Costs one atomic add and, now and
  // then, an fallocate. Returns false if the disk is full or mapping fails (recording has then stopped
  // permanently), after finish(), or in a forked child.
  [[nodiscard]] bool take(StreamKind kind, uint32_t thread, StreamPosition position, size_t bytes,
                          MappedExtent& out) noexcept;

  // Checksums an extent to which nothing will be added, and unmaps it. Does nothing if there is no extent.
  void seal_and_unmap(MappedExtent& extent) noexcept;
  void unmap(MappedExtent& extent) noexcept;

  // Write records about the process. Can be called from any thread, also in handlers; never wait. Strings are
  // cut at 4,096 bytes.
  void write_metric(const MetricInfo& metric) noexcept;
  void write_module(uint16_t id, const char* path, uint64_t start, uint64_t end, uint64_t load_bias,
                    const uint8_t* build_id, uint32_t build_id_bytes, const FileIdentity& file = {}) noexcept;
  void write_thread_start(uint32_t thread, int32_t tid, uint64_t time_ns, const char* name) noexcept;
  // Records that the thread has this name, since `time_ns` at the latest. Call rarely: see thread_name.h.
  void write_thread_name(uint32_t thread, uint64_t time_ns, const char* name) noexcept;
  void write_thread_end(uint32_t thread, uint64_t time_ns, uint64_t cpu_ns) noexcept;
  // Records a degradation, a sentence that every report shows.
  void write_note(const char* text, NoteKind kind = NoteKind::Run) noexcept;
  void write_device(const DeviceRecordInfo& device) noexcept;
  // Records a queue of a device. Its contexts, values and tasks are those of the thread index `line`.
  void write_queue(uint32_t track, uint16_t device, uint64_t time_ns, const char* name) noexcept;
  // Names a frame of kModuleDevice.
  void write_symbol(uint64_t frame, const char* name) noexcept;

  // Records the addresses of a thread's own memory. write_object() records an allocation that contains
  // accesses.
  void write_thread_memory(const ThreadMemoryRecord& memory) noexcept;
  void write_object(const ObjectRecord& object) noexcept;
  void write_object_end(uint64_t object, uint64_t time_ns) noexcept;

  // Records that a thread changed a line that others changed as well.
  void write_written(const WrittenRecord& written) noexcept;

  // Records a repair, or that one was declined.
  void write_repair(const RepairRecord& repair) noexcept;

  // Returns a live counter of the process, in the file's header page (survives a kill). Always valid: without
  // an open file, counts are discarded.
  std::atomic<uint64_t>& counter(Counter counter) noexcept { return counters_[static_cast<size_t>(counter)]; }
  PauseSwitch pause_switch() noexcept { return PauseSwitch(counters_); }
  // Returns the live counter of a stack reason.
  std::atomic<uint64_t>& stack_counter(uint8_t reason) noexcept {
    return stack_reasons_[reason < kStackReasonSlots ? reason : kStackReasonSlots - 1];
  }

  // Returns the first errno after which nothing more is recorded; 0 if there was none.
  [[nodiscard]] int failure() const noexcept { return space_.failure(); }

  // Keeps records about the process in memory until something else is recorded. The file of a process without
  // samples is then only its header, one page. Must be called right after create(), instead of map_ahead().
  // Only one thread may record until write_records().
  void keep_records() noexcept;
  // Writes the records that were kept. Must be called before another thread records. Async-signal-safe.
  void write_records() noexcept;

  // Stops recording with this errno. Async-signal-safe.
  void stop(int error) noexcept { space_.fail(error); }
  // True if the file has this inode, also in a forked child that has not called detach() yet.
  [[nodiscard]] bool is_in_inode(uint64_t inode) const noexcept {
    return descriptor() >= 0 && space_.inode() == inode;
  }

  // Trims the reserved space after the last extent, at a normal exit. Mapped extents stay usable; new ones
  // cannot be taken. Records that are kept in memory are dropped: there were no samples. Async-signal-safe.
  void finish(uint64_t end_monotonic_ns) noexcept;

  // Closes the descriptor, in a process that continues after finish(). Mappings stay, so that a thread that
  // is still recording may write.
  void release_descriptor() noexcept { space_.release_descriptor(); }

  // Resets a forked child's copy without touching the parent's file. Must be the first call in the child. The
  // child does not inherit the extents; create() may then open a file of its own.
  void detach() noexcept;

  [[nodiscard]] const char* path() const noexcept { return space_.path(); }  // absolute
  int descriptor() const noexcept { return space_.descriptor(); }            // -1 if not open
  void replace_descriptor(int from, int to) noexcept { space_.replace_descriptor(from, to); }
  [[nodiscard]] size_t bytes_mapped() const noexcept { return bytes_mapped_.load(std::memory_order_relaxed); }

 private:
  class Record;

  void* map_at(int64_t offset, size_t bytes) noexcept;
  RecordHeader* take_record(size_t bytes) noexcept;
  void clear_kept_records() noexcept;
  static void begin_extent(void* memory, StreamKind kind, uint32_t thread, StreamPosition position,
                           size_t bytes) noexcept;

  FileSpace space_;
  char* header_ = nullptr;
  size_t header_bytes_ = 0;
  std::atomic<ExtentHeader*> records_{nullptr};  // for process records; extents before it stay mapped
  std::atomic<uint32_t> record_extents_{0};
  std::atomic<ExtentHeader*> kept_records_{nullptr};  // an extent in private memory
  std::atomic<size_t> bytes_mapped_{0};
  std::atomic<uint64_t> unrecorded_[kCounterSlots + kStackReasonSlots] = {};
  std::atomic<uint64_t>* counters_ = unrecorded_;
  std::atomic<uint64_t>* stack_reasons_ = unrecorded_ + kCounterSlots;
};

}  // namespace hpcrun

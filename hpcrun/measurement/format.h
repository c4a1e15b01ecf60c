#pragma once
// Defines the layout of a measurement file: what one process leaves on disk between two execs.
// docs/formats.md describes it field by field. This header is the only definition, shared by the writer in
// the measured process and the reader in the analysis. All numbers are little-endian. Values of enums are
// part of the format: append only.

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "hpcrun/measurement/why_shared.h"

namespace hpcrun {

constexpr char kFileMagic[8] = {'p', 'r', 'o', 'f', 'm', 'e', 'a', 's'};
constexpr uint16_t kFormatMajor = 1;   // a reader refuses any other
constexpr uint16_t kFormatMinor = 15;  // a reader accepts newer ones and ignores unknown parts
constexpr uint32_t kByteOrderMark = 0x01020304;
constexpr uint32_t kPageBytes = 4096;

// Trace times are multiples of this: two bytes reach 4.19 ms, one interval at 250 samples per second.
constexpr uint32_t kTraceQuantumNs = 256;

enum class StreamKind : uint16_t {
  Process = 1,   // records about the process: modules, metrics, threads, notes; shared by all threads
  Nodes = 2,     // calling context tree nodes of one thread, append-only
  Values = 3,    // metric cells of one thread, updated in place
  Trace = 4,     // delta-coded trace of one thread, append-only
  Tasks = 5,     // tasks that a device queue executed, append-only (since minor version 3)
  Waits = 6,     // waits of one thread for devices, append-only (since minor version 3)
  Accesses = 7,  // memory that several threads used, append-only (since minor version 4)
  Locks = 8,     // waits of one thread for other threads, and blame; updated in place (since minor version 5)
  Waste = 9,     // stores and loads of one thread that were wasted; updated in place (since minor version 15)
};

// Live counters of the process, one 64-bit number each.
enum class Counter : uint16_t {
  Samples = 0,  // samples recorded
  // CPU time of the runtime: in handlers, summed over threads, at its start, and for modules loaded later.
  HandlerNanoseconds = 1,
  RuntimeBytes = 2,        // high-water mark of memory mapped by the runtime
  EndMonotonicNs = 3,      // CLOCK_MONOTONIC at a normal end; 0: killed, crashed or still running
  Threads = 4,             // number of threads, including the main thread
  UnsampledThreads = 5,    // threads without a sample source or memory
  FileBytes = 9,           // size of the file at a normal end, 0 before
  PausedSinceNs = 10,      // CLOCK_MONOTONIC since when measuring is paused; 0: it is not (pause.h)
  PausedNanoseconds = 11,  // sum of the pauses that have ended
  ResumedAtNs = 12,        // CLOCK_MONOTONIC at the end of the last pause; 0: none has ended
  MeasuredBy = 13,         // pid of the process that samples this one from outside; 0: it samples itself
  // Bounds of the program's own time. Excludes loading before, and the runtime's work at either end.
  // CLOCK_MONOTONIC; 0: not known.
  ProgramBeganNs = 14,  // the runtime had started
  ProgramEndedNs = 15,  // the runtime began its work at the end
  // Samples that were requested but not recorded, by reason.
  DroppedNoMemory = 16,       // the thread's arena is exhausted
  DroppedFileFull = 17,       // disk full, quota, file size limit: recording has stopped
  DroppedThreadUnready = 18,  // arrived before the thread was set up, or after its end
  DroppedNested = 19,         // arrived while the runtime itself was working on this thread
  DroppedOverrun = 20,        // expirations or overflows that the kernel merged into a later one
  DroppedRingFull = 21,       // external sampling: the kernel's buffer was full before it was read
  DroppedExpensive = 22,      // earlier ones cost too much of the program's time (since minor version 12)
  StartNanoseconds = 23,      // the part of HandlerNanoseconds outside handlers (since minor version 12)
  LooksForContention = 24,  // a ContentionSource (since minor version 4); 0 if contention is not searched for
  // Time for which threads were ready without a processor, summed. Incomplete: threads that ended while few
  // descriptors were left are not counted.
  RunQueueNanoseconds = 25,
  // Processes forked from this one, directly or indirectly, that ended or executed a program without having
  // been sampled. They have no file; the cost of the runtime in them is in 1 and 23 (since minor version 13).
  UnsampledChildren = 26,
  FollowsLocks = 30,  // kFollowsLocks... if locks are followed (since minor version 5)
  // kWaste... if wasted stores and loads are searched for (since minor version 15).
  LooksForWaste = 31,
  // Repairs made while the program ran (since minor version 7).
  Repairs = 40,                // kRepairs..., bits: the repairs requested
  PlacedAllocations = 41,      // allocations that were placed; a thread's last 63 may be missing after a kill
  PaddingBytes = 42,           // bytes added by placement, summed
  PlannedSites = 43,           // entries of the repair plan that the program reached
  PlacementsRefused = 44,      // allocations to be placed that the allocator could not place
  LocksMoved = 45,             // locks moved to lines of their own
  LocksDeclinedRobust = 46,    // locks that were to be moved and were not, by reason: robust
  LocksDeclinedPriority = 47,  // priority inheritance or protection
  LocksDeclinedShared = 48,    // shared between processes
  LocksDeclinedSpin = 49,      // spin locks have no room for a reference to another line
  LocksDeclinedNoMemory = 50,
  LocksDeclinedElided = 51,  // elided by transactions of the processor
  // Threads converted to processes with private pages (since minor version 9):
  Conversions = 52,  // number of conversions
  ConversionNanoseconds = 53,
  LongestConversion = 54,     // of the longest conversion, in ns
  PageCommits = 55,           // commits, each of all private pages of a thread at once
  CommitNanoseconds = 56,     // time of commits, estimated from some of them
  MergedWords = 57,           // written to common pages by commits
  ConvertedNanoseconds = 58,  // CPU time of converted threads
  // Since minor version 11:
  IsolationGuarantee = 59,  // kIsolated..., bits: annotation of the program's code during isolation
  // Synchronizations of threads per second of CPU time, with private pages, and with common pages on trial,
  // as of the last trial; 0: not tried.
  MeetingsIsolated = 60,
  MeetingsCommon = 61,
  // The rank that MPI reports in MPI_Init, for launchers that do not: 1 + rank in the lower 32 bits, number
  // of ranks in the upper; 0: not asked.
  RankByMpi = 62,
};
// Counter::LooksForWaste: bit n for WasteKind n, and how.
constexpr uint64_t kWasteSampled = 1 << 8;  // some accesses, followed by breakpoints
constexpr uint64_t kWasteExact = 2 << 8;    // all accesses
constexpr uint64_t kIsolatedAnnotated = 1;  // all code is annotated: it marks its atomic operations
constexpr uint64_t kIsolatedPlain = 2;      // some code is not
constexpr uint64_t kRepairsLayout = 1;      // by what this run finds
constexpr uint64_t kRepairsLocks = 2;
constexpr uint64_t kRepairsByPlan = 4;
constexpr uint64_t kRepairsIsolate = 8;
constexpr uint64_t kFollowsLocks = 1;
constexpr uint64_t kFollowsLocksWithTasks = 2;  // OpenMP ran tasks in threads that were waiting
constexpr uint16_t kCounterSlots = 64;
constexpr uint16_t kStackReasonSlots = 32;

// At offset 0 of the file. Readers find every table through the offsets and sizes stored here.
struct FileHeader {
  char magic[8];
  uint16_t major;
  uint16_t minor;
  uint32_t byte_order;
  uint32_t page_bytes;
  uint32_t header_bytes;  // whole pages; the first extent follows
  uint16_t extent_header_bytes;
  uint16_t node_bytes;
  uint16_t cell_bytes;
  uint16_t record_header_bytes;
  uint32_t trace_quantum_ns;
  uint32_t counters_offset;
  uint16_t counter_slots;
  uint16_t stack_reason_slots;
  uint32_t stack_reasons_offset;
  uint32_t strings_offset;  // command, executable, host, environment: each a 32-bit length, then bytes
  uint32_t strings_bytes;
  int32_t pid;
  int32_t parent_pid;
  int32_t rank;
  uint32_t reserved;
  uint64_t start_realtime_ns;
  uint64_t start_monotonic_ns;
  uint32_t strings_checksum;  // CRC32C of the strings
  uint32_t checksum;          // CRC32C of all bytes before this field
};
static_assert(sizeof(FileHeader) == 96);

constexpr uint32_t kCountersOffset = 128;
constexpr uint32_t kStackReasonsOffset = kCountersOffset + kCounterSlots * 8;
constexpr uint32_t kStringsOffset = kStackReasonsOffset + kStackReasonSlots * 8;
static_assert(sizeof(FileHeader) <= kCountersOffset && kStringsOffset < kPageBytes);

constexpr uint32_t kExtentMagic = 0x54584550;  // "PEXT"
constexpr uint16_t kExtentVersion = 1;
constexpr uint32_t kSealed = 0x4c414553;  // "SEAL"

// Starts every extent, at a page boundary. The first 32 bytes never change once written.
struct ExtentHeader {
  uint32_t magic;
  uint16_t version;
  StreamKind kind;
  uint32_t thread;           // index in the process; 0 for StreamKind::Process
  uint32_t sequence;         // number in its stream, from 0
  uint32_t pages;            // size, including this header
  uint32_t header_checksum;  // CRC32C of the 32 immutable bytes with this field as 0
  uint64_t first;            // Nodes: id of the first node; otherwise 0
  std::atomic<uint32_t>
      length;  // bytes published after the header; Process: bytes taken, may exceed the size
  std::atomic<uint32_t> sealed;  // kSealed if nothing will be appended and payload_checksum is valid
  uint32_t payload_checksum;     // CRC32C of `length` payload bytes, started from the CRC32C of length itself
  uint32_t reserved[5];
};
static_assert(sizeof(ExtentHeader) == 64);
constexpr size_t kExtentImmutableBytes = 32;

// StreamKind::Nodes. Each record has its own `check`, so the records of an unsealed extent can be verified
// one by one.
struct NodeRecord {
  uint32_t parent;  // id of the caller's node, smaller than this node's; 0 is the thread's root
  uint32_t check;   // node_check() of the other two fields and the node's id
  uint64_t frame;   // FrameKey: module id in bits 63..48, offset in the module below
};
static_assert(sizeof(NodeRecord) == 16);

// StreamKind::Values. The first eight bytes are immutable. Count and value are each updated by one plain
// 8-byte store, value first. After a kill between the two, value includes one sample more than count.
struct ValueCell {
  uint32_t node;
  uint16_t metric;
  uint16_t check;  // cell_check() of node and metric
  uint64_t samples;
  uint64_t value;
};
static_assert(sizeof(ValueCell) == 24);

// Marks a cell that belongs to a wait in its context and counts nothing. `value` is CLOCK_MONOTONIC in ns
// since when the thread waits in a call that no sample interrupts, or 0 if it does not wait. `samples` (since
// minor version 2) is how long measuring had been paused by then, in ns.
constexpr uint16_t kWaitingMetric = 0x8000;

// The kind of object that a thread waits for.
enum class LockKind : uint8_t {
  Mutex = 1,
  ReadWriteLock = 2,
  SpinLock = 3,
  CriticalSection = 4,
  // Never held by a thread:
  Condition = 16,
  Semaphore = 17,
  Barrier = 18,
  Join = 19,
  // A thread of an OpenMP team that has done its part and waits for the next parallel region.
  Team = 20,
};
[[nodiscard]] constexpr bool is_held(LockKind kind) {
  return kind < LockKind::Condition;
}

// Replaces the address of OpenMP's critical section without a name.
constexpr uint64_t kUnnamedCriticalSection = 1;

// The meaning of a LockCell.
enum class LockRole : uint8_t {
  Wait = 0,   // the thread waited
  Blame = 1,  // other threads waited while the thread held the lock; at the call that released it
  Open = 2,   // the thread is waiting now
  Held = 3,   // the thread that was observed to hold a lock
  Idle = 4,   // other threads were idle while the thread worked
};

// StreamKind::Locks. The first 24 bytes are immutable. The others are each updated by one plain 8-byte store,
// the total first.
struct LockCell {
  uint64_t object;  // address of the object waited for; 0 for Open and Idle
  uint32_t node;    // in the tree of `thread`
  uint32_t thread;  // index: the stream's own, or that of a thread that held the lock
  LockKind kind;    // 0 for Idle
  LockRole role;
  uint16_t reserved;
  uint32_t check;  // lock_cell_check()
  // Wait, Blame   number of waits that ended, or of releases
  // Open          address of the object waited for
  // Idle          CPU time in ns in which others were idle
  uint64_t waits;
  // Wait, Blame   ns of waiting
  // Open, Held    ns of CLOCK_MONOTONIC minus all pauses: start of the wait (0: none), or time of observation
  // Idle          the same CPU time times idle/working threads
  uint64_t total_ns;
  // Wait, Blame   longest wait, or the largest sum of waits ended by one release
  // Open, Held    thread id of the holder, as the wait began or at the observation; 0: not known
  // Idle          the same CPU time times idle threads
  uint64_t longest_ns;
};
static_assert(sizeof(LockCell) == 48);

// What a WasteCell counts.
enum class WasteKind : uint8_t {
  DeadStore = 1,      // bytes stored, and stored again before they were loaded
  SilentStore = 2,    // bytes stored that were equal to those that the previous store had left there
  RedundantLoad = 3,  // bytes loaded that were equal to those that the previous load had returned
};

// StreamKind::Waste: pairs of accesses to the same memory, of which one was wasted, and totals. The first 48
// bytes are immutable. Count and bytes are each updated by one plain 8-byte store, bytes first.
//   dead store      first: the store whose bytes were not loaded; second: the store that overwrote them
//   silent store    first: the store that left the bytes; second: the store that wrote them again
//   redundant load  first: the load that returned the bytes; second: the load that returned them again
// A total has no second node. It counts all accesses of its context that were checked for this kind of waste,
// the wasted ones included: of the first access of a pair for dead stores, of the second for others.
struct WasteCell {
  uint32_t first_node;     // in the tree of `first_thread`
  uint32_t first_thread;   // index
  uint32_t second_node;    // in the tree of `second_thread`; 0: a total, not a pair
  uint32_t second_thread;  // index
  uint32_t object_node;    // context of the memory's allocation, in the tree of `object_thread`; 0: none
  uint32_t object_thread;  // index
  uint64_t address;        // of the first such access; 0: not known, or a total
  uint32_t access_bytes;   // size of the first such access; 0: a total
  WasteKind kind;
  uint8_t flags;  // kWaste...
  uint16_t reserved;
  uint32_t reserved2;
  uint32_t check;  // waste_cell_check()
  uint64_t count;  // of accesses: all (exact), or sampled (otherwise)
  uint64_t bytes;  // of these
};
static_assert(sizeof(WasteCell) == 64);
// Dead store: the stack frame ended, and no store overwrote the bytes. The second node is the context that
// returned.
constexpr uint8_t kWasteFrameEnded = 1;
// Total: sampled accesses that were not decided before the watch or the run ended. They are in no other cell.
constexpr uint8_t kWasteUndecided = 2;

// StreamKind::Trace: the payload starts with the state before its first record.
struct TraceStart {
  uint64_t time;  // in quanta
  uint32_t node;
  uint32_t period;  // StreamKind::Tasks, if it is sampled: in quanta; otherwise 0
};
static_assert(sizeof(TraceStart) == 16);

// A trace record is LEB128(time delta in quanta + kTraceDeltaBias), LEB128(zigzag(node delta)); a gap is
// LEB128(kTraceGap), LEB128(time delta). No record starts with a zero byte: zero means that nothing was
// written.
constexpr uint64_t kTraceGap = 1;
constexpr uint64_t kTraceDeltaBias = 2;
constexpr size_t kMaxTraceRecordBytes = 12;  // 7 for the time, 5 for the node

// StreamKind::Tasks and Waits: the payload starts with a TraceStart, whose time is the end of an interval.
// A record is five or six LEB128 numbers, times in quanta:
//   task  zigzag(start - end of the previous record) + 1, length, start - submission, zigzag(node delta),
//         index of the thread that submitted it; in a sampled stream twice that, plus 1 if the task
//         represents the cells in which it was seen (task_sampling.h)
//   wait  zigzag(begin - end of the previous record) + 1, length, launch latency, gap, wake latency,
//         zigzag(node delta)
// StreamKind::Accesses likewise: the end is the time of the access, or of the sample that found it. The
// interval is the CPU time that the sample represents:
//   access  zigzag(begin - end of the previous record) + 1, length, address, bytes * 64 + bits
//           (kAccess...), id of the object + 1 or 0, zigzag(node delta)
// The first number is not 0: a zero byte means that nothing was written.
constexpr unsigned kTaskNumbers = 5;
constexpr unsigned kWaitNumbers = 6;
constexpr unsigned kAccessNumbers = 6;
constexpr uint64_t kAccessReads = 1;
constexpr uint64_t kAccessWrites = 2;
constexpr uint64_t kAccessSeen = 4;   // by a breakpoint or by hardware; otherwise inferred from a sample
constexpr uint64_t kAccessExact = 8;  // bytes and kind are known; otherwise some access to these bytes
constexpr uint64_t kAccessLocked = 16;
constexpr uint64_t kAccessBits = 64;  // the bits above are the number of bytes

// The method by which accesses are observed: Counter::LooksForContention.
enum class ContentionSource : uint64_t {
  Breakpoints = 1,  // breakpoints, which confirm accesses found by decoding instructions
  Pebs = 2,         // Intel's memory samples (since minor version 6, as is the next)
  Ibs = 3,          // AMD's
  Pages = 4,        // private pages of threads (since minor version 10)
};

enum class RecordType : uint8_t {
  Metric = 1,
  Module = 2,
  ThreadStart = 4,
  ThreadEnd = 5,
  Note = 6,
  ThreadName = 7,  // since minor version 2
  Device = 8,      // since minor version 3, as are the next two
  Queue = 9,
  Symbol = 10,
  Object = 11,  // since minor version 4, as is the next
  ObjectEnd = 12,
  Repair = 13,  // since minor version 7, as is the next
  ThreadMemory = 14,
  Written = 15,  // since minor version 10
};

// StreamKind::Process: this header, `fixed_words` * 8 bytes of numbers, then strings (16-bit length, bytes),
// padded with zeros to `bytes`. Records start at multiples of 8. `commit` is stored last. A reader that finds
// no valid record continues the search in steps of 8.
struct RecordHeader {
  std::atomic<uint32_t> commit;  // CRC32C of all bytes after this field, 1 if that is 0
  uint16_t bytes;                // whole record
  RecordType type;
  uint8_t fixed_words;
};
static_assert(sizeof(RecordHeader) == 8);

struct MetricRecord {
  uint64_t id;
  double scale;
  double requested_hz;
};  // strings: name, unit, source, note
// Identifies the file that a path led to in the measured process, by stat(); all 0: not known.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  [[nodiscard]] bool is_known() const noexcept { return inode != 0; }
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};
constexpr uint64_t kNoFileDevice =
    ~uint64_t{0};  // the path led to no file; the inode is a number of the process
// Names the copy of a file that no longer exists when the process ends, in the measurement directory:
// directory, then the identity.
constexpr char kSavedFileFormat[] = "%s/saved-%lx-%lx-%lx.elf";

struct ModuleRecord {
  uint64_t id;
  uint64_t start;
  uint64_t end;
  uint64_t load_bias;
  FileIdentity file;  // since minor version 12
};                    // strings: path, build id (bytes)
struct ThreadStartRecord {
  uint32_t thread;
  int32_t tid;
  uint64_t time_ns;
};  // strings: name
struct ThreadEndRecord {
  uint64_t thread;
  uint64_t time_ns;
  uint64_t cpu_ns;
};
struct ThreadNameRecord {
  uint64_t thread;
  uint64_t time_ns;
};                           // strings: name
struct ThreadMemoryRecord {  // addresses of a thread that used memory of other threads
  uint64_t thread;
  uint64_t stack_low;
  uint64_t stack_high;  // exclusive; both 0: not known
  uint64_t pointer;     // the thread pointer: thread-local variables are below it
};
// The subject of a note. Views repeat the notes that state what is missing from what they show.
enum class NoteKind : uint64_t {
  ByWords = 0,     // of files before minor version 14, which do not say
  Run = 1,         // the run as a whole
  Contention = 2,  // what is not known of contention
  Traces = 3,      // what traces do not show
};
struct NoteRecord {
  NoteKind kind;  // since minor version 14
};                // strings: text
struct DeviceRecord {
  uint64_t device;        // index in the process
  uint64_t track;         // thread index whose root cells are the device's totals (device_metrics.h)
  uint64_t first_use_ns;  // CLOCK_MONOTONIC; its idleness counts from here
};                        // strings: name, UUID, API, driver
struct QueueRecord {
  uint64_t track;  // thread index that has the queue's contexts, values and tasks
  uint64_t device;
  uint64_t time_ns;  // CLOCK_MONOTONIC of its creation
};                   // strings: name
struct SymbolRecord {
  uint64_t frame;  // FrameKey in kModuleDevice
};                 // strings: name

struct ObjectRecord {
  uint64_t object;   // id in the process
  uint64_t begin;    // address
  uint64_t bytes;    // 0: not known
  uint64_t born_ns;  // CLOCK_MONOTONIC; 0: not known
  uint64_t thread;   // index of the thread whose tree contains the context of its allocation
  uint64_t node;     // that context
  uint64_t align;    // the alignment requested for its address; 0: not known
};
struct ObjectEndRecord {
  uint64_t object;
  uint64_t time_ns;  // CLOCK_MONOTONIC of its release
};

enum class RepairKind : uint64_t {
  Placed = 1,        // allocations of a site are placed from now on, by what this run found
  PlannedSite = 2,   // the program reached a site that the repair plan names
  Declined = 3,      // threads contend for a site's allocations, and no placement separates them
  LocksMoved = 4,    // a lock was moved to a line of its own
  PageIsolated = 5,  // threads get private copies of the page (since minor version 9, as is the next)
  PageShared = 6,    // a page is not isolated, or no longer
};

struct RepairRecord {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  RepairKind kind;
  uint64_t thread;  // index of the thread whose tree contains the context of the allocation
  uint64_t node;    // that context; 0 for a lock outside every known allocation
  uint64_t bytes;   // size that the site requests; 0: it varies
  uint64_t align;   // a Placement (hpcrun/model/placement.h); 0 if there is none
  uint64_t offset;
  uint64_t pad;
  uint64_t plan_entry;  // PlannedSite: index of the entry + 1; otherwise 0
  uint64_t conflicts;   // accesses that conflicted on a line in the original layout, and
  uint64_t remaining;   // with the placement (Declined: with the best one available)
  uint64_t address;     // of the line where this was found, or of the lock, or of the page
  // For pages, `conflicts` is the share of CPU time at falsely shared lines of the page, in millionths.
  // `remaining` is the reason why it is not isolated (WhyShared).
};

// Bytes of a cache line that one thread changed while others changed the line as well
// (hpcrun/model/written_line.h). If they lie in several objects, there is a record for each. The counts are
// in the first record and 0 in the others.
struct WrittenRecord {
  uint64_t time_ns;        // CLOCK_MONOTONIC: end of the period that began with the object or process
  uint64_t thread;         // index
  uint64_t line;           // address
  uint64_t bytes;          // one bit for each byte that the thread changed, from the start of the line
  uint64_t object;         // id + 1 of the object that contains them; 0: no known object
  uint64_t updates;        // commits and periods in which the thread changed the line
  uint64_t interleaved;    // of these, the ones after another thread's
  uint64_t true_sharing;   // of these, changes to words that several threads changed, and
  uint64_t false_sharing;  // changes to words of its own next to another thread's
};

// Mixes values for the checks of single records. A check is never 0, because unwritten space reads as zeros.
constexpr uint64_t mix64(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  return x;
}
constexpr uint32_t node_check(uint32_t id, uint32_t parent, uint64_t frame) {
  return static_cast<uint32_t>(mix64(frame ^ mix64((static_cast<uint64_t>(id) << 32) | parent))) | 1u;
}
constexpr uint16_t cell_check(uint32_t node, uint16_t metric) {
  return static_cast<uint16_t>(mix64((static_cast<uint64_t>(node) << 16) ^ metric ^ 0x76616c7565u)) | 1u;
}

constexpr uint32_t lock_cell_check(const LockCell& cell) {
  const uint64_t what = static_cast<uint64_t>(cell.kind) << 8 | static_cast<uint64_t>(cell.role);
  const uint64_t where = static_cast<uint64_t>(cell.thread) << 32 | cell.node;
  return static_cast<uint32_t>(mix64(cell.object ^ mix64(where ^ mix64(what)))) | 1u;
}

constexpr uint32_t waste_cell_check(const WasteCell& cell) {
  const auto pair = [](uint32_t thread, uint32_t node) { return static_cast<uint64_t>(thread) << 32 | node; };
  const uint64_t what =
      static_cast<uint64_t>(cell.access_bytes) << 16 | static_cast<uint64_t>(cell.kind) << 8 | cell.flags;
  uint64_t mixed = mix64(what);
  mixed = mix64(mixed ^ cell.address);
  mixed = mix64(mixed ^ pair(cell.object_thread, cell.object_node));
  mixed = mix64(mixed ^ pair(cell.second_thread, cell.second_node));
  return static_cast<uint32_t>(mix64(mixed ^ pair(cell.first_thread, cell.first_node))) | 1u;
}

}  // namespace hpcrun

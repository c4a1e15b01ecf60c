#pragma once
// The layout of a measurement file: what one process leaves on disk between two execs. docs/formats.md
// describes it field by field; this header is its one definition, shared by the writer inside the measured
// process and the reader in the analysis. All numbers are little-endian. Values of enums are part of the
// format: append only.

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "hpcrun/measurement/why_shared.h"

namespace hpcrun {

constexpr char kFileMagic[8] = {'p', 'r', 'o', 'f', 'm', 'e', 'a', 's'};
constexpr uint16_t kFormatMajor = 1;   // a reader refuses any other
constexpr uint16_t kFormatMinor = 13;  // a reader accepts newer ones and ignores what it does not know
constexpr uint32_t kByteOrderMark = 0x01020304;
constexpr uint32_t kPageBytes = 4096;

// Trace times are whole multiples of this: two bytes reach 4.19 ms, one interval at 250 samples per second.
constexpr uint32_t kTraceQuantumNs = 256;

enum class StreamKind : uint16_t {
  Process = 1,   // records about the process: modules, metrics, threads, notes; shared by all threads
  Nodes = 2,     // calling context tree nodes of one thread, append-only
  Values = 3,    // metric cells of one thread, updated in place
  Trace = 4,     // delta-coded trace of one thread, append-only
  Tasks = 5,     // what a device queue executed, append-only (since minor version 3)
  Waits = 6,     // when one thread waited for devices, append-only (since minor version 3)
  Accesses = 7,  // memory that one thread used and others as well, append-only (since minor version 4)
  Locks = 8,     // where one thread waited for others, and whom it blames; in place (since minor version 5)
};

// Live counters of the process, one 64-bit number each.
enum class Counter : uint16_t {
  Samples = 0,             // samples recorded
  HandlerNanoseconds = 1,  // CPU time of the runtime: in handlers, summed over threads, at its start, and for
                           // modules loaded later
  RuntimeBytes = 2,        // high water of memory mapped by the runtime
  EndMonotonicNs = 3,      // CLOCK_MONOTONIC at a normal end; 0: killed, crashed or still running
  Threads = 4,             // threads seen, the main thread included
  UnsampledThreads = 5,    // threads for which there was no sample source or no memory
  FileBytes = 9,           // size of the file at a normal end, 0 before
  PausedSinceNs = 10,      // CLOCK_MONOTONIC when measuring was paused; 0: it is not (pause.h)
  PausedNanoseconds = 11,  // length of the pauses that are over, summed
  ResumedAtNs = 12,        // CLOCK_MONOTONIC at the end of the last pause; 0: none ended
  MeasuredBy = 13,         // pid of the process that samples this one from outside; 0: it samples itself
  // The program's own time lies between these two, less loading before and what the runtime does at either
  // end. CLOCK_MONOTONIC; 0: not known.
  ProgramBeganNs = 14,  // the runtime had started
  ProgramEndedNs = 15,  // the runtime began to end
  // Samples that were asked for and not recorded, by reason.
  DroppedNoMemory = 16,       // the thread's arena is exhausted
  DroppedFileFull = 17,       // disk full, quota, file size limit: recording has stopped
  DroppedThreadUnready = 18,  // arrived before the thread was set up or after it was taken down
  DroppedNested = 19,         // arrived while the runtime itself was at work on this thread
  DroppedOverrun = 20,        // expirations or overflows that the kernel merged into a later one
  DroppedRingFull = 21,       // sampled from outside: the kernel's buffer was full before it was read
  DroppedExpensive = 22,      // those before it cost too much of the program's time (since minor version 12)
  StartNanoseconds = 23,      // of HandlerNanoseconds, what is not in handlers (since minor version 12)
  LooksForContention = 24,    // a ContentionSource (since minor version 4); 0 where it does not
  RunQueueNanoseconds = 25,   // in which threads were ready and had no processor, summed: those there at the
                              // end, and in traces of the wall clock the others
  // Forked processes, and those that they forked, which ended or execute a program without having been
  // sampled: they have no file (since minor version 13). What the runtime took in them counts in 1 and 23.
  UnsampledChildren = 26,
  FollowsLocks = 30,  // kFollowsLocks... where it does (since minor version 5)
  // What was repaired while the program ran (since minor version 7).
  Repairs = 40,              // kRepairs..., bits: what may be changed
  PlacedAllocations = 41,    // allocations that were placed; a thread's last 63 may be missing after a kill
  PaddingBytes = 42,         // what they take more than was asked for, summed
  PlannedSites = 43,         // entries of the repair plan that the program came to
  PlacementsRefused = 44,    // allocations that were to be placed and were not: the allocator lacks the means
  LocksMoved = 45,           // locks that got a line of their own
  LocksDeclinedRobust = 46,  // locks that were to get one and did not, by reason
  LocksDeclinedPriority = 47,  // priority inheritance or protection
  LocksDeclinedShared = 48,    // between processes
  LocksDeclinedSpin = 49,      // spin locks have no room for the way to another line
  LocksDeclinedNoMemory = 50,
  LocksDeclinedElided = 51,  // transactions of the processor stand in for them
  // Threads that ran as processes with pages of their own (since minor version 9):
  Conversions = 52,  // of threads to processes
  ConversionNanoseconds = 53,
  LongestConversion = 54,     // ns
  PageCommits = 55,           // of all private pages of a thread at once
  CommitNanoseconds = 56,     // by those of which the time was taken
  MergedWords = 57,           // that commits wrote to common pages
  ConvertedNanoseconds = 58,  // CPU time of threads as processes
  // Since minor version 11:
  IsolationGuarantee = 59,  // kIsolated..., bits: the program's code, while pages were isolated
  // How often threads met in a second of CPU time with pages of their own, and on trial with common ones, as
  // these were tried last; 0: they were not.
  MeetingsIsolated = 60,
  MeetingsCommon = 61,
  // What MPI says in MPI_Init, where the launcher does not: 1 + the rank in the lower half, how many there
  // are in the upper one; 0: nobody asked.
  RankByMpi = 62,
};
constexpr uint64_t kIsolatedAnnotated = 1;  // all of it said where it works atomically
constexpr uint64_t kIsolatedPlain = 2;      // some did not
constexpr uint64_t kRepairsLayout = 1;      // of what this run finds
constexpr uint64_t kRepairsLocks = 2;
constexpr uint64_t kRepairsByPlan = 4;
constexpr uint64_t kRepairsIsolate = 8;
constexpr uint64_t kFollowsLocks = 1;
constexpr uint64_t kFollowsLocksWithTasks = 2;  // OpenMP runs tasks where it makes threads wait
constexpr uint16_t kCounterSlots = 64;
constexpr uint16_t kStackReasonSlots = 32;

// Offset 0 of the file. Readers find every table through the offsets and sizes stored here.
struct FileHeader {
  char magic[8];
  uint16_t major;
  uint16_t minor;
  uint32_t byte_order;
  uint32_t page_bytes;
  uint32_t header_bytes;  // whole pages; the first extent starts behind them
  uint16_t extent_header_bytes;
  uint16_t node_bytes;
  uint16_t cell_bytes;
  uint16_t record_header_bytes;
  uint32_t trace_quantum_ns;
  uint32_t counters_offset;
  uint16_t counter_slots;
  uint16_t stack_reason_slots;
  uint32_t stack_reasons_offset;
  uint32_t strings_offset;  // command, executable, host, environment: each 32-bit length, then bytes
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
  uint32_t sequence;         // in its stream, from 0
  uint32_t pages;            // size, this header included
  uint32_t header_checksum;  // CRC32C of the 32 immutable bytes with this field as 0
  uint64_t first;            // Nodes: id of the first node; otherwise 0
  std::atomic<uint32_t>
      length;  // bytes published behind the header; Process: bytes taken, may exceed the size
  std::atomic<uint32_t> sealed;  // kSealed once nothing will be appended and payload_checksum holds
  uint32_t payload_checksum;     // CRC32C of `length` payload bytes, started from the CRC32C of length itself
  uint32_t reserved[5];
};
static_assert(sizeof(ExtentHeader) == 64);
constexpr size_t kExtentImmutableBytes = 32;

// StreamKind::Nodes. Validated singly by `check`, so that an unsealed extent can be trusted record by record.
struct NodeRecord {
  uint32_t parent;  // id of the caller's node, smaller than this node's; 0 is the thread's root
  uint32_t check;   // node_check() of the other two and the node's id
  uint64_t frame;   // FrameKey: module id in bits 63..48, offset in the module below
};
static_assert(sizeof(NodeRecord) == 16);

// StreamKind::Values. The first eight bytes are immutable; count and value are each updated by one plain
// 8-byte store, value first: after a kill between the two, value holds one sample more than count.
struct ValueCell {
  uint32_t node;
  uint16_t metric;
  uint16_t check;  // cell_check() of node and metric
  uint64_t samples;
  uint64_t value;
};
static_assert(sizeof(ValueCell) == 24);

// A cell whose metric has this bit belongs to a wait in that context and counts nothing: `value` is
// CLOCK_MONOTONIC in ns since when the thread waits in a call that no sample interrupts, 0 when it does not;
// `samples` (since minor version 2) is how long measuring had been paused by then, in ns.
constexpr uint16_t kWaitingMetric = 0x8000;

// What a thread waits for, of other threads.
enum class LockKind : uint8_t {
  Mutex = 1,
  ReadWriteLock = 2,
  SpinLock = 3,
  CriticalSection = 4,
  // Not held by anybody:
  Condition = 16,
  Semaphore = 17,
  Barrier = 18,
  Join = 19,
  Team = 20,  // a thread of an OpenMP team, which has done its part: for the next parallel region
};
constexpr bool is_held(LockKind kind) {
  return kind < LockKind::Condition;
}

// Stands for the address of OpenMP's critical section without a name.
constexpr uint64_t kUnnamedCriticalSection = 1;

// What a LockCell tells.
enum class LockRole : uint8_t {
  Wait = 0,   // what the thread waited
  Blame = 1,  // what others waited while the thread held the lock, at the call that released it
  Open = 2,   // that the thread waits now
  Held = 3,   // who was seen to hold a lock
  Idle = 4,   // that others were idle while the thread worked
};

// StreamKind::Locks. The first 24 bytes are immutable; the others are each updated by one plain 8-byte store,
// the total first.
struct LockCell {
  uint64_t object;  // address of what was waited for; 0 of Open and Idle
  uint32_t node;    // in the tree of `thread`
  uint32_t thread;  // index: the stream's own, or of a thread that held the lock
  LockKind kind;    // 0 of Idle
  LockRole role;
  uint16_t reserved;
  uint32_t check;  // lock_cell_check()
  // Wait, Blame   waits that ended, or releases
  // Open          address of what is waited for
  // Idle          CPU time in ns in which others were idle
  uint64_t waits;
  // Wait, Blame   ns of waiting
  // Open, Held    ns of CLOCK_MONOTONIC less all pauses: since when; 0: not. When it was seen
  // Idle          the same CPU time times idle/working threads
  uint64_t total_ns;
  // Wait, Blame   longest wait, or what was waited up to one release
  // Open, Held    thread id of who held the lock as the wait began, or then; 0: not known
  // Idle          the same CPU time times idle threads
  uint64_t longest_ns;
};
static_assert(sizeof(LockCell) == 48);

// StreamKind::Trace: the payload starts with the state before its first record.
struct TraceStart {
  uint64_t time;  // in quanta
  uint32_t node;
  uint32_t period;  // StreamKind::Tasks, where it is sampled: in quanta; otherwise 0
};
static_assert(sizeof(TraceStart) == 16);

// A trace record is LEB128(time delta in quanta + kTraceDeltaBias), LEB128(zigzag(node delta)); a gap is
// LEB128(kTraceGap), LEB128(time delta). No record starts with a zero byte: zero means nothing was written.
constexpr uint64_t kTraceGap = 1;
constexpr uint64_t kTraceDeltaBias = 2;
constexpr size_t kMaxTraceRecordBytes = 12;  // 7 for the time, 5 for the node

// What traces of a run cannot tell is said in notes that begin like this.
constexpr char kTraceNotePrefix[] = "In traces, ";

// StreamKind::Tasks and Waits: the payload starts with a TraceStart, whose time is that of an end. A record
// is five or six LEB128 numbers, times in quanta:
//   task  zigzag(start - end of the record before) + 1, length, start - submission, zigzag(node delta),
//         index of the thread that submitted it; in a sampled stream twice that, plus 1 where the task stands
//         for the cells in which it was seen (task_sampling.h)
//   wait  zigzag(begin - end of the record before) + 1, length, launch latency, gap, wake latency,
//         zigzag(node delta)
// StreamKind::Accesses likewise: the time is that of the access, or of the sample that found it, and before
// it lies the CPU time that the sample stands for:
//   access  zigzag(begin of that - time of the record before) + 1, its length, address, bytes * 64 + bits
//           (kAccess...), id of the object + 1 or 0, zigzag(node delta)
// The first is not 0: a zero byte means nothing was written.
constexpr unsigned kTaskNumbers = 5;
constexpr unsigned kWaitNumbers = 6;
constexpr unsigned kAccessNumbers = 6;
constexpr uint64_t kAccessReads = 1;
constexpr uint64_t kAccessWrites = 2;
constexpr uint64_t kAccessSeen = 4;   // by a breakpoint or by hardware; otherwise a sample's guess
constexpr uint64_t kAccessExact = 8;  // bytes and kind are known; otherwise some access to these
constexpr uint64_t kAccessLocked = 16;
constexpr uint64_t kAccessBits = 64;  // above: bytes

// What an access is known by: Counter::LooksForContention.
enum class ContentionSource : uint64_t {
  Breakpoints = 1,  // from decoded instructions to breakpoints that confirm
  Pebs = 2,         // Intel's memory samples (since minor version 6, as is the next)
  Ibs = 3,          // AMD's
  Pages = 4,        // pages that threads have for themselves (since minor version 10)
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
// padded with zeros to `bytes`. Records start at multiples of 8. `commit` is stored last: a reader that meets
// a record without a valid one searches on in steps of 8.
struct RecordHeader {
  std::atomic<uint32_t> commit;  // CRC32C of all bytes behind this field, 1 where that is 0
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
// Which file a path led to in the measured process, by stat(); all 0: not known.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  bool is_known() const noexcept { return inode != 0; }
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};
constexpr uint64_t kNoFileDevice =
    ~uint64_t{0};  // the path led nowhere; the inode is a number of the process
// Of a file that is gone when the process ends, in its measurement directory: directory, then the identity.
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
struct ThreadMemoryRecord {  // addresses, of a thread that was seen to use memory of others
  uint64_t thread;
  uint64_t stack_low;
  uint64_t stack_high;  // the first above it; both 0: not known
  uint64_t pointer;     // the thread pointer: below it lie the thread-local variables
};
struct NoteRecord {
  uint64_t reserved;
};  // strings: text
struct DeviceRecord {
  uint64_t device;        // index in the process
  uint64_t line;          // thread index whose root cells are the device's totals (device_metrics.h)
  uint64_t first_use_ns;  // CLOCK_MONOTONIC; its idleness counts from here
};                        // strings: name, UUID, API, driver
struct QueueRecord {
  uint64_t line;  // thread index under which the queue has its contexts, values and tasks
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
  uint64_t thread;   // index of the thread in whose tree the context of its allocation is
  uint64_t node;     // that
  uint64_t align;    // what its address was asked to be a multiple of; 0: not known
};
struct ObjectEndRecord {
  uint64_t object;
  uint64_t time_ns;  // CLOCK_MONOTONIC at which it was released
};

enum class RepairKind : uint64_t {
  Placed = 1,        // allocations of a site are placed from now on, for what this run found
  PlannedSite = 2,   // the program came to a site that the repair plan names
  Declined = 3,      // threads contend for a site's allocations, and no placement keeps them apart
  LocksMoved = 4,    // a lock got a line of its own
  PageIsolated = 5,  // from now on threads have a page for themselves (since minor version 9, as is the next)
  PageShared = 6,    // a page is not isolated, or not any more
};

struct RepairRecord {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  RepairKind kind;
  uint64_t thread;  // index of the thread in whose tree the context of the allocation is;
  uint64_t node;    // that; 0 of a lock that lies in no allocation that is known
  uint64_t bytes;   // that the site asks for; 0: they vary
  uint64_t align;   // a Placement (hpcrun/model/placement.h); 0 where there is none
  uint64_t offset;
  uint64_t pad;
  uint64_t plan_entry;  // PlannedSite: index of the entry + 1; otherwise 0
  uint64_t conflicts;   // accesses that were in conflict on a line, as they lay, and
  uint64_t remaining;   // with the placement (Declined: with the best one that there is)
  uint64_t address;     // of the line at which this was found, or of the lock, or the page
  // Of pages `conflicts` is the share of CPU time at lines that threads shared there falsely, in millionths,
  // and `remaining` why it is not isolated (WhyShared).
};

// Bytes of a cache line that one thread changed while others changed the line as well
// (hpcrun/model/written_line.h). Where they lie in several objects there is a record for each; the counts are
// in the first one and 0 in the others.
struct WrittenRecord {
  uint64_t time_ns;        // CLOCK_MONOTONIC: until then, since the object's begin or that of the process
  uint64_t thread;         // index
  uint64_t line;           // address
  uint64_t bytes;          // a bit for each that the thread changed, from the line's begin
  uint64_t object;         // id + 1 of the object that they lie in; 0: none that is known
  uint64_t updates;        // commits and periods in which the thread changed the line
  uint64_t interleaved;    // of these, those after another thread's
  uint64_t true_sharing;   // and of these, those of words that several threads changed,
  uint64_t false_sharing;  // and those of words of its own beside another thread's own
};

// Mixes into single-record checks; never 0 for the zero record that unwritten space looks like.
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

}  // namespace hpcrun

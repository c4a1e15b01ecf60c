#pragma once
// Defines the settings that `prof run` passes to the runtime in environment variables, so that every
// descendant process gets them. Both sides use these definitions.
//
// - PROF_DIRECTORY: absolute path of the measurement directory; without it the runtime stays passive
// - PROF_EVENTS: event ',' event ..., where an event is name '@' rate ['#' perf type '#' perf config in hex]
// - PROF_SEARCH_RATE: the rate of CPUTIME while the runtime searches closely for contention
//   (hpcrun/contention/sampling_rate_control.h), if it is higher than the event's
// - PROF_TRACE: "1" to record a trace
// - PROF_DEVICE_TRACE: "sampled" to keep only the device tasks that a sampler of the trace would see
// - PROF_CONTENTION: "1" to search for memory contention with the samples of CPUTIME; "pages" to count the
//   writes of threads to the same lines, on private pages: as PROF_ISOLATE below
// - PROF_MEMORY_EVENTS: if the processor samples memory accesses: "pebs" or "ibs", then for each event ','
//   kind '@' rate '#' perf type '#' config '#' config1 '#' config2 '#' precise_ip '#' excluded, in hex after
//   the rate. The kind is a MemoryEvent; excluded is 1 to exclude the kernel, 0 to exclude nothing
// - PROF_LOCKS: "1" to record waits for locks and their holders; libprof-locks.so is then preloaded
// - PROF_WASTE: the kinds of wasted stores and loads to search for, a sum of 1 << WasteKind (format.h)
// - PROF_REPAIR: the repairs allowed for what this run finds: "layout", "locks", "isolate", "isolate:always",
//   or several, comma-separated; libprof-heap.so is preloaded for layout and isolate, libprof-locks.so
//   for locks, and libprof-isolate.so for isolate
// - PROF_REPAIR_PLAN: "1" if the measurement directory has a plan of repairs to make from the start
//   (hpcrun/measurement/repair_plan.h); the same libraries are preloaded
// - PROF_ISOLATE: "1" to make all memory of the program common from its start (docs/internals/isolation.md),
//   "asked" to do so once there is a page to isolate; libprof-isolate.so is preloaded, with "1" followed by
//   an allocator
// - PROF_ISOLATING_ALLOCATOR: with "asked", the absolute path of the allocator that the program uses from
//   then on
// - PROF_TRIGGER: the best trigger that this machine allows, "sigtrap", "timer" or "setsig"; the runtime uses
//   a later one if it is refused in a process

#include <cstdint>

namespace hpcrun {

// - PROF_OUTSIDE: abstract name of the socket for requests to `prof` to sample a program externally, if the
//   runtime cannot work in it (outside_request.h); without it no requests are made
// - PROF_MOUNTS: inode of the mount namespace of `prof`; in another one, paths lead to other files
// - PROF_OUTSIDE_EXEC: path of hpcrun-exec, which sends the request for a program started by posix_spawn

constexpr char kEnvDirectory[] = "PROF_DIRECTORY";
constexpr char kEnvEvents[] = "PROF_EVENTS";
constexpr char kEnvSearchRate[] = "PROF_SEARCH_RATE";
constexpr char kEnvTrace[] = "PROF_TRACE";
constexpr char kEnvDeviceTrace[] = "PROF_DEVICE_TRACE";
constexpr char kSampledDeviceTrace[] = "sampled";
constexpr char kEnvContention[] = "PROF_CONTENTION";
constexpr char kContentionByPages[] = "pages";
constexpr char kEnvMemoryEvents[] = "PROF_MEMORY_EVENTS";
constexpr char kEnvLocks[] = "PROF_LOCKS";
constexpr char kEnvWaste[] = "PROF_WASTE";
constexpr char kEnvRepair[] = "PROF_REPAIR";
constexpr char kRepairLayout[] = "layout";
constexpr char kRepairLocks[] = "locks";
constexpr char kRepairIsolate[] = "isolate";
constexpr char kRepairIsolateAlways[] = "isolate:always";
constexpr char kEnvRepairPlan[] = "PROF_REPAIR_PLAN";
constexpr char kEnvIsolate[] = "PROF_ISOLATE";
constexpr char kIsolateWhenAsked[] = "asked";
constexpr char kEnvTunables[] = "GLIBC_TUNABLES";
constexpr char kEnvIsolatingAllocator[] = "PROF_ISOLATING_ALLOCATOR";
constexpr char kEnvMounts[] = "PROF_MOUNTS";
constexpr char kEnvTrigger[] = "PROF_TRIGGER";
constexpr char kEnvOutside[] = "PROF_OUTSIDE";
constexpr char kEnvOutsideExec[] = "PROF_OUTSIDE_EXEC";

// Messages on the socket, one byte each.
constexpr char kStaticFromExec = 's';  // the requesting process is about to execute a static program
constexpr char kGoFromExec = 'g';      // the same for a Go program
constexpr char kGoFromNow = 'n';       // the requesting process executes a Go program, and has one thread
constexpr char kOutsideAnswer = 'a';   // the answer: continue

// A folder in the measurement directory for shared unwind tables. `prof run` creates it, and removes it with
// its contents (hpcrun/unwind/shared_tables.h).
constexpr char kSharedTablesFolder[] = "unwind-tables";

// Variables in which launchers of parallel programs pass the rank, the number of ranks, and the rank on the
// node. The first set that is present counts: the launcher of MPI processes is itself a Slurm process.
struct RankVariables {
  const char *rank, *size, *local_rank;  // nullptr: the launcher sets none
  bool with_size_only;                   // the rank is valid only if the size is set as well
};
constexpr RankVariables kRankVariables[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", false},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", false},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", false},
    {"PALS_RANKID", "PALS_SIZE", "PALS_LOCAL_RANKID", false},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", false},
    // A batch script has SLURM_PROCID=0 and is not a step.
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", true},
    {"PMIX_RANK", nullptr, nullptr, false},
    // mpiexec -pmi-port of MPICH.
    {"PMI_ID", nullptr, "MPI_LOCALRANKID", false},
};

// - PROF_LAUNCH: identifies the ranks that were launched together (prof/parallel_job.h)
// - PROF_RANKS: the ranks to measure, as in `prof run --ranks`; absent: all
constexpr char kEnvLaunch[] = "PROF_LAUNCH";
constexpr char kEnvRanks[] = "PROF_RANKS";
// - PROF_RELEASE: the version of prof that measures them
constexpr char kEnvRelease[] = "PROF_RELEASE";

// Variables that measurement files record: the launch that a process belongs to, and its size.
constexpr const char* kRecordedVariables[] = {
    kEnvLaunch,      kEnvRanks,   kEnvRelease,     "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE",
    "PMI_SIZE",      "PALS_SIZE", "FLUX_JOB_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID",
    "SLURM_STEP_ID", "PBS_JOBID", "LSB_JOBID",     "FLUX_JOB_ID",
};

constexpr uint64_t kAllWasteKinds = 0b1110;  // dead stores, silent stores, redundant loads

// In order of preference.
enum class Trigger : uint8_t { Sigtrap, Timer, Setsig };

enum class EventKind : uint8_t { CpuTime, RealTime, Perf, Memory };

// The accesses that a memory event samples. The data source of each access has the details.
enum class MemoryEvent : uint8_t {
  Operations = 1,           // all instructions; the data source has the operation (AMD IBS)
  Loads = 2,                // the data source has the origin
  ModifiedLoads = 3,        // loads of lines that another core had modified (HITM)
  RemoteModifiedLoads = 4,  // the same, of another node's core
  ForwardedLoads = 5,       // loads of lines that another core supplied, modified or not
  Stores = 6,
};
constexpr bool finds_transfers(MemoryEvent event) {
  return event != MemoryEvent::Stores;
}

enum class MemoryHardware : uint8_t { None, Pebs, Ibs };
constexpr const char* name_of(MemoryHardware hardware) {
  return hardware == MemoryHardware::Pebs ? "pebs" : hardware == MemoryHardware::Ibs ? "ibs" : "";
}

constexpr uint32_t kMaxEvents = 8;  // that users may request
constexpr uint32_t kMaxMemoryEvents = 3;
constexpr uint32_t kMaxThreadEvents = kMaxEvents + kMaxMemoryEvents;
constexpr uint32_t kMaxEventName = 64;
constexpr uint32_t kMinRate = 1;
// Above this, the signals of one event alone take a third of a processor.
constexpr uint32_t kMaxRate = 20'000;
constexpr uint32_t kDefaultCpuRate = 1'000;
// Per second; at higher rates, optimizations that make each sample cheaper pay off.
constexpr uint32_t kFewSamples = 100;

struct EventSpec {
  EventKind kind = EventKind::CpuTime;
  uint32_t rate = kDefaultCpuRate;  // samples per second of the event's clock
  uint32_t requested_rate = 0;      // before the runtime lowered the rate (signal_cost.h); 0: it did not
  char name[kMaxEventName] = {};
  uint32_t perf_type = 0;  // for EventKind::Perf and Memory
  uint64_t perf_config = 0;
  // For EventKind::Memory:
  MemoryEvent memory = MemoryEvent::Operations;
  uint8_t precise_ip = 0;
  bool excludes_kernel = false;
  uint64_t perf_config1 = 0;
  uint64_t perf_config2 = 0;
};

struct Config {
  const char* directory = nullptr;  // not owned: belongs to the environment
  EventSpec events[kMaxThreadEvents];  // memory events last
  uint32_t event_count = 0;
  uint32_t search_rate = 0;  // of CPUTIME while searching; 0: none
  bool trace = false;
  bool contention = false;
  bool contention_by_pages = false;  // never together with `contention`
  MemoryHardware memory_hardware = MemoryHardware::None;
  bool locks = false;
  uint64_t waste_kinds = 0;  // bit n for WasteKind n
  bool repairs_layout = false;
  bool repairs_locks = false;
  bool repairs_isolate = false;
  bool isolates_always = false;  // also pages in which no sharing was found
  bool has_repair_plan = false;
  uint64_t mounts = 0;  // inode of prof's mount namespace; 0: not known
  // The period of the first event if device traces are sampled, else 0.
  uint64_t device_trace_period_ns = 0;
  Trigger trigger = Trigger::Sigtrap;

  bool repairs() const noexcept { return repairs_layout || repairs_locks || repairs_isolate; }
  // True if threads may be converted to processes.
  bool isolates() const noexcept { return repairs_isolate || contention_by_pages; }
};

// Parses an event as written in PROF_EVENTS, from `text` up to `end`. Returns false if it is malformed.
bool parse_event(const char* text, const char* end, EventSpec& out) noexcept;

// The same for an event as written in PROF_MEMORY_EVENTS.
bool parse_memory_event(const char* text, const char* end, EventSpec& out) noexcept;

// The same from NAME=value texts, each ended by a zero byte and the last by one more: the settings of a
// process that the runtime is attached to. Returns false if there is nothing to do or the texts are
// malformed. Nothing is copied.
bool read_config(const char* settings, Config& out) noexcept;

// Reads the environment. Returns false if there is nothing to do or it is malformed.
bool read_config(Config& out) noexcept;

}  // namespace hpcrun

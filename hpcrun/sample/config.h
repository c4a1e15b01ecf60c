#pragma once
// What `prof run` asks the runtime to do, passed in environment variables so that every descendant process
// gets it. Both sides use these definitions.
//
// - PROF_DIRECTORY: absolute path of the measurement directory; without it the runtime stays passive
// - PROF_EVENTS: event ',' event ..., an event being name '@' rate ['#' perf type '#' perf config in hex]
// - PROF_SEARCH_RATE: the rate of CPUTIME while contention is looked for closely
// (hpcrun/memory/search_pace.h),
//   where that is more than the event's
// - PROF_TRACE: "1" to record a trace
// - PROF_DEVICE_TRACE: "sampled" to keep, of what devices execute, only what a sampler would see in the trace
// - PROF_CONTENTION: "1" to look for memory that threads contend for, with the samples of CPUTIME; "pages" to
//   count what threads write to the same lines, on pages that each has for itself: as PROF_ISOLATE below
// - PROF_MEMORY_EVENTS: where the processor samples memory accesses: "pebs" or "ibs", then for each event ','
//   kind '@' rate '#' perf type '#' config '#' config1 '#' config2 '#' precise_ip '#' excluded, in hex behind
//   the rate. The kind is a MemoryEvent, excluded 1 for what the kernel does, 0 for nothing
// - PROF_LOCKS: "1" to follow who waits for whose locks; libhpcrun-sync.so is preloaded then
// - PROF_REPAIR: what may be changed in this run for what it finds: "layout", "locks", "isolate",
//   "isolate:always", or several with commas; libhpcrun-memory.so is preloaded for layout and isolate,
//   libhpcrun-sync.so for locks, and libhpcrun-isolate.so for isolate
// - PROF_REPAIR_PLAN: "1" where the measurement directory has a plan of what to change from the start
//   (hpcrun/measurement/repair_plan.h); the same libraries are preloaded
// - PROF_ISOLATE: "1" to have all memory of the program common from its start on (docs/internals/isolation.md), "asked"
//   from when there is a page to isolate; libhpcrun-isolate.so is preloaded, with "1" an allocator behind it
// - PROF_ISOLATING_ALLOCATOR: with "asked", the absolute path of the allocator that the program has from then
// on
// - PROF_TRIGGER: the best trigger that this machine allows, "sigtrap", "timer" or "setsig"; the runtime
//   takes a later one where a process is refused it

#include <cstdint>

namespace hpcrun {

// - PROF_OUTSIDE: abstract name of the socket on which `prof` is asked to sample a program from outside that
//   the runtime cannot be in (outside_request.h); without it there is nobody to ask
// - PROF_MOUNTS: inode of the mount namespace that `prof` is in; in another one paths lead to other files
// - PROF_OUTSIDE_EXEC: path of hpcrun-exec, which asks for a program that posix_spawn starts

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

// What is sent to the socket, one byte, and what comes back.
constexpr char kStaticFromExec = 's';  // the asking process is about to execute a static program
constexpr char kGoFromExec = 'g';      // the same, a Go program
constexpr char kGoFromNow = 'n';       // the asking process executes a Go program, and has one thread
constexpr char kOutsideAnswer = 'a';   // go on

// A folder of the measurement directory. `prof run` makes it, and removes it with what is in it
// (hpcrun/unwind/shared_tables.h).
constexpr char kSharedTablesFolder[] = "unwind-tables";

// Where launchers of parallel programs say which rank a process is, of how many, and which on its node. The
// first one that is set counts: what starts the processes of MPI is itself a process of Slurm's.
struct RankVariables {
  const char *rank, *size, *local_rank;  // nullptr: there is none
  bool with_size_only;                   // the rank means something only where the size is set as well
};
constexpr RankVariables kRankVariables[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", false},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", false},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", false},
    {"PALS_RANKID", "PALS_SIZE", "PALS_LOCAL_RANKID", false},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", false},
    // A batch script has SLURM_PROCID=0 and is no step.
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", true},
    {"PMIX_RANK", nullptr, nullptr, false},
    // mpiexec -pmi-port of MPICH.
    {"PMI_ID", nullptr, "MPI_LOCALRANKID", false},
};

// - PROF_LAUNCH: what all ranks that were launched together have in common (prof/ranks/parallel_job.h)
// - PROF_RANKS: which of them are measured, as `prof run --ranks` has it; absent: all
constexpr char kEnvLaunch[] = "PROF_LAUNCH";
constexpr char kEnvRanks[] = "PROF_RANKS";
// - PROF_RELEASE: the version of the prof that measures them
constexpr char kEnvRelease[] = "PROF_RELEASE";

// What measurement files keep of the environment: of which launch a process is one, and of how many.
constexpr const char* kRecordedVariables[] = {
    kEnvLaunch,      kEnvRanks,   kEnvRelease,     "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE",
    "PMI_SIZE",      "PALS_SIZE", "FLUX_JOB_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID",
    "SLURM_STEP_ID", "PBS_JOBID", "LSB_JOBID",     "FLUX_JOB_ID",
};

// In order of preference.
enum class Trigger : uint8_t { Sigtrap, Timer, Setsig };

enum class EventKind : uint8_t { CpuTime, RealTime, Perf, Memory };

// What accesses a memory event samples, beyond what the data source of each tells.
enum class MemoryEvent : uint8_t {
  Operations = 1,           // all instructions: what they did, the data source tells (AMD IBS)
  Loads = 2,                // where from, the data source tells
  ModifiedLoads = 3,        // loads of lines that another core had modified (HITM)
  RemoteModifiedLoads = 4,  // the same, of another node
  ForwardedLoads = 5,       // loads of lines that another core gave, modified or not
  Stores = 6,
};
constexpr bool finds_transfers(MemoryEvent event) {
  return event != MemoryEvent::Stores;
}

enum class MemoryHardware : uint8_t { None, Pebs, Ibs };
constexpr const char* name_of(MemoryHardware hardware) {
  return hardware == MemoryHardware::Pebs ? "pebs" : hardware == MemoryHardware::Ibs ? "ibs" : "";
}

constexpr uint32_t kMaxEvents = 8;  // that users may ask for
constexpr uint32_t kMostMemoryEvents = 3;
constexpr uint32_t kMostEvents = kMaxEvents + kMostMemoryEvents;
constexpr uint32_t kMaxEventName = 64;
constexpr uint32_t kMinRate = 1;
// Above this the signals of one event alone take a third of a processor.
constexpr uint32_t kMaxRate = 20'000;
constexpr uint32_t kDefaultCpuRate = 1'000;
constexpr uint32_t kFewSamples = 100;  // a second: what makes each of them cheaper pays from there on

struct EventSpec {
  EventKind kind = EventKind::CpuTime;
  uint32_t rate = kDefaultCpuRate;  // samples per second of the event's clock
  uint32_t requested_rate = 0;      // of one that the runtime may have lowered (signal_cost.h); 0: `rate`
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
  const char* directory = nullptr;  // not owned: the environment's
  EventSpec events[kMostEvents];    // those of memory last
  uint32_t event_count = 0;
  uint32_t search_rate = 0;  // of CPUTIME, at times; 0: none
  bool trace = false;
  bool contention = false;
  bool contention_by_pages = false;  // not both
  MemoryHardware memory_hardware = MemoryHardware::None;
  bool locks = false;
  bool repairs_layout = false;
  bool repairs_locks = false;
  bool repairs_isolate = false;
  bool isolates_always = false;  // pages that nobody was found to share, too
  bool has_repair_plan = false;
  uint64_t mounts = 0;                  // inode of prof's mount namespace; 0: not known
  uint64_t device_trace_period_ns = 0;  // that of the first event where device traces are sampled, else 0
  Trigger trigger = Trigger::Sigtrap;

  bool repairs() const noexcept { return repairs_layout || repairs_locks || repairs_isolate; }
  // Threads may become processes.
  bool isolates() const noexcept { return repairs_isolate || contention_by_pages; }
};

// Reads one event as written in PROF_EVENTS, from text up to `end`. False when malformed.
bool parse_event(const char* text, const char* end, EventSpec& out) noexcept;

// The same of one as written in PROF_MEMORY_EVENTS.
bool parse_memory_event(const char* text, const char* end, EventSpec& out) noexcept;

// The same as NAME=value texts, each ended by a zero byte and the last by one more: what a process is told to
// which the runtime comes late. False when there is nothing to do or they are malformed. Nothing is copied.
bool read_config(const char* settings, Config& out) noexcept;

// Reads the environment. False when there is nothing to do or it is malformed.
bool read_config(Config& out) noexcept;

}  // namespace hpcrun

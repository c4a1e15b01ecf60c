#pragma once
// A database in memory: written by `prof analyze`, returned by the reader of HPCToolkit v4.0, and shown by
// reports, exports and the viewer. Plain data; strings are UTF-8.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/run/run_summary.h"

namespace prof {

constexpr uint32_t kNone = UINT32_MAX;

struct LoadModule {
  std::string path;
  std::string build_id = {};  // as measured, in hexadecimal digits; empty if it has none or none is known

  bool operator==(const LoadModule&) const = default;
};

struct SourceFile {
  std::string path;
  bool copied = false;  // the database has a copy: src/ followed by the path, which is absolute

  bool operator==(const SourceFile&) const = default;
};

struct Function {
  std::string name;         // demangled
  uint32_t module = kNone;  // index into Database::modules
  uint64_t offset = 0;      // of its first instruction in the module
  uint32_t file = kNone;    // its definition
  uint32_t line = 0;

  bool operator==(const Function&) const = default;
};

// HPCToolkit's lexical types (FORMATS.md, meta.db, "Context"), plus the entry points at depth 0.
enum class ContextKind : uint8_t { Entry, Function, Loop, Line, Instruction };
// The relation of a context to its parent.
enum class Relation : uint8_t { Enclosing, Call, InlinedCall };

struct Context {
  uint32_t parent = kNone;  // index into Database::contexts; a parent comes before its children
  ContextKind kind = ContextKind::Function;
  Relation relation = Relation::Call;
  uint32_t function = kNone;  // for Function
  uint32_t file = kNone;      // for Line (and Loop)
  uint32_t line = 0;
  uint32_t module = kNone;  // for Instruction
  uint64_t offset = 0;
  std::string entry;  // for Entry: "main thread", "application thread", ...

  bool operator==(const Context&) const = default;
};

enum class Statistic : uint8_t { Sum, Minimum, Maximum, SumOfSquares };

struct Metric {
  std::string name;  // "CPUTIME"
  std::string unit;  // "sec", "bytes", "" for events
  std::string description;

  bool operator==(const Metric&) const = default;
};

struct Values {
  double exclusive = 0;  // the function itself: HPCToolkit's scope "function"
  double inclusive = 0;  // with all callees: scope "execution"
  double point = 0;      // exactly this context: scope "point"

  bool operator==(const Values&) const = default;
};

// The values that are displayed.
struct Cost {
  double inclusive = 0;
  double exclusive = 0;
};

struct Summary {  // over the profiles in which the context occurs
  Values sum, minimum, maximum, sum_of_squares;
  uint32_t profiles = 0;

  bool operator==(const Summary&) const = default;
};

struct ProfileId {  // what was measured
  std::string host;
  int32_t rank = -1;
  int32_t process = -1;  // pid
  int32_t thread = -1;   // index in the process, 0 = main thread
  std::string thread_name;
  // For a profile of a device: the device's index in the process, and the index of one of its queues. Such a
  // profile has no thread; thread_name is the queue's.
  int32_t device = -1;
  int32_t queue = -1;

  bool operator==(const ProfileId&) const = default;
};

struct ProfileValue {
  uint32_t context;
  uint32_t metric;
  Values values;

  bool operator==(const ProfileValue&) const = default;
};

struct Profile {
  ProfileId id;
  std::vector<ProfileValue> values;  // sparse, sorted by (context, metric)
  uint64_t samples = 0;

  bool operator==(const Profile&) const = default;
};

struct TraceRecord {
  uint64_t time_ns;  // since the epoch
  uint32_t context;  // kNone: nothing runs from here on

  bool operator==(const TraceRecord&) const = default;
};

// Reads one profile's trace in order, one block per call. Returns false at its end.
using TraceSource = std::function<bool(std::vector<TraceRecord>& block)>;

// A task of a device queue: which thread submitted it and when, and when it ran. Times since the epoch.
struct DeviceLaunch {
  uint32_t task = 0;        // index into Database::task_names
  uint32_t queue = 0;       // index into Database::profiles
  uint32_t thread = kNone;  // index of the submitting thread's profile; kNone if unknown
  uint64_t submit_ns = 0;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint64_t sampled_ns = 0;  // in a sampled trace: the time that it represents, omitted tasks included; else 0

  bool operator==(const DeviceLaunch&) const = default;
};

// Reads all launches, queue by queue, each roughly in the order of task ends. One block per call; returns
// false at the end.
using LaunchSource = std::function<bool(std::vector<DeviceLaunch>& block)>;

// A call in which a thread waited for devices. Times since the epoch. Launch latency is at its start, wake
// latency at its end; the three parts together are at most as long as the call. The tasks that it waited for
// cover the rest.
struct WaitForDevice {
  uint32_t call = 0;    // index into Database::wait_names
  uint32_t thread = 0;  // index into Database::profiles
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t launch_latency_ns = 0;
  uint64_t gap_ns = 0;
  uint64_t wake_latency_ns = 0;

  bool operator==(const WaitForDevice&) const = default;
};

// Reads all waits, thread by thread, each roughly in the order of their ends. Otherwise as LaunchSource.
using DeviceWaitSource = std::function<bool(std::vector<WaitForDevice>& block)>;

// The cost of an instruction itself, over all of its calling contexts.
struct InstructionCost {
  uint32_t module = 0;  // index into Database::modules
  uint64_t offset = 0;  // in the module; for a call instruction, the offset of one of its bytes
  uint32_t metric = 0;
  double value = 0;  // the sum over all threads

  bool operator==(const InstructionCost&) const = default;
};

struct Database;

// Values of profiles that are not kept in memory. They are computed on demand, in pieces.
struct ProfileValues {
  std::vector<uint32_t> first;  // the first profile of each piece, and the end of the last
  // The first piece of each worker's share, and the end of the last share.
  std::vector<size_t> shares;
  // Returns Profile::values for each profile of a piece. Safe to call from several threads at once.
  std::function<std::vector<std::vector<ProfileValue>>(const Database& database, size_t piece)> compute;

  // Returns the first profile of a process's share, and the end of the share.
  std::pair<size_t, size_t> profiles_of(int rank) const {
    const auto process = static_cast<size_t>(rank);
    return {first[shares[process]], first[shares[process + 1]]};
  }
};

class StoredValues;

struct Database {
  std::string title;  // the program's name
  std::string description;
  std::vector<LoadModule> modules;
  std::vector<SourceFile> files;
  // The users whose programs named the files: a file that one of them may not read is not copied. Used by the
  // writer only, and not stored.
  std::vector<uint32_t> measured_users;
  std::vector<Function> functions;
  std::vector<Context> contexts;
  std::vector<Metric> metrics;
  // summaries[metric * contexts.size() + context]; absent contexts have profiles == 0.
  std::vector<Summary> summaries;
  std::vector<Profile> profiles;
  ProfileValues values;  // if compute is set, profiles have no values of their own
  // If set, neither profiles nor summaries have values: this reads both (analysis/database/stored_values.h).
  std::shared_ptr<const StoredValues> stored;
  std::vector<std::string> task_names;
  LaunchSource launches;                // empty if none are known
  std::vector<std::string> wait_names;  // functions that waited for devices
  DeviceWaitSource device_waits;        // empty if none are known
  std::vector<TraceSource> traces;      // one per profile, empty if it has none; or no elements
  // The number of records to write of each trace, if known in advance; otherwise empty.
  std::vector<uint64_t> trace_records;

  // Sorted by module, offset and metric. For the writer only: read_instruction_costs() reads those of a
  // database on disk.
  std::vector<InstructionCost> instructions;

  // Describes the run and how well it was measured. Stored in run.json, next to HPCToolkit's files. Unset for
  // databases that HPCToolkit wrote.
  std::optional<RunSummary> run;

  const Summary& summary(uint32_t metric, uint32_t context) const {
    return summaries[static_cast<size_t>(metric) * contexts.size() + context];
  }
};

}  // namespace prof

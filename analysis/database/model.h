#pragma once
// A database in memory: what `prof analyze` writes, what the HPCToolkit v4.0 reader returns, and what
// reports, exports and the viewer show. Plain data; strings are UTF-8.

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
  std::string build_id = {};  // as measured, in hexadecimal digits; empty: it has none, or none is known

  bool operator==(const LoadModule&) const = default;
};

struct SourceFile {
  std::string path;
  bool copied = false;  // the database has a copy, its src/ followed by the path, which is absolute

  bool operator==(const SourceFile&) const = default;
};

struct Function {
  std::string name;         // demangled
  uint32_t module = kNone;  // index into Database::modules
  uint64_t offset = 0;      // of its first instruction in the module
  uint32_t file = kNone;    // where it is defined
  uint32_t line = 0;

  bool operator==(const Function&) const = default;
};

// HPCToolkit's lexical types (FORMATS.md, meta.db, "Context"), plus the entry points at depth 0.
enum class ContextKind : uint8_t { Entry, Function, Loop, Line, Instruction };
// How a context comes from its parent.
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
  double exclusive = 0;  // the function itself: HPCToolkit scope "function"
  double inclusive = 0;  // with everything called: scope "execution"
  double point = 0;      // this very context: scope "point"

  bool operator==(const Values&) const = default;
};

// What is shown of Values.
struct Cost {
  double inclusive = 0;
  double exclusive = 0;
};

struct Summary {  // over the profiles in which the context occurs
  Values sum, minimum, maximum, sum_of_squares;
  uint32_t profiles = 0;

  bool operator==(const Summary&) const = default;
};

struct ProfileId {  // who was measured
  std::string host;
  int32_t rank = -1;
  int32_t process = -1;  // pid
  int32_t thread = -1;   // index in the process, 0 = main thread
  std::string thread_name;
  // Of what a device executed: its index in the process and that of one of its queues. Such a profile has no
  // thread; its name is the queue's.
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
  uint32_t context;  // kNone: nothing ran from here on

  bool operator==(const TraceRecord&) const = default;
};

// Reads one profile's trace from its source in order, a block at a time; false at its end.
using TraceSource = std::function<bool(std::vector<TraceRecord>& block)>;

// A task of a device queue: when it was submitted by whom, and when it ran. Times since the epoch.
struct DeviceLaunch {
  uint32_t task = 0;        // index into Database::task_names
  uint32_t queue = 0;       // index into Database::profiles
  uint32_t thread = kNone;  // that submitted it, likewise; kNone: not known
  uint64_t submit_ns = 0;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint64_t sampled_ns = 0;  // of a sampled trace: the time that it stands for, also of tasks left out; else 0

  bool operator==(const DeviceLaunch&) const = default;
};

// Reads all launches, queue by queue, of each in about the order of their ends; a block at a time, false at
// the end.
using LaunchSource = std::function<bool(std::vector<DeviceLaunch>& block)>;

// A call in which a thread waited for devices. Times since the epoch; the three parts, of which the first is
// at its begin and the last at its end, are not longer than it: the rest was covered by the tasks waited for.
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

// Reads all waits, thread by thread, of each in about the order of their ends; as LaunchSource otherwise.
using DeviceWaitSource = std::function<bool(std::vector<WaitForDevice>& block)>;

// What was spent at an instruction itself, whatever called it there.
struct InstructionCost {
  uint32_t module = 0;  // index into Database::modules
  uint64_t offset = 0;  // in the module; of calls in which something was spent, that of one of their bytes
  uint32_t metric = 0;
  double value = 0;  // the sum over all threads

  bool operator==(const InstructionCost&) const = default;
};

struct Database;

// Values of profiles that are not kept in memory, in pieces that are computed when they are asked for.
struct ProfileValues {
  std::vector<uint32_t> first;  // profile of each piece, and one behind the last
  // Pieces that the processes of a team are to write: the first one of each process, and one behind the last.
  std::vector<size_t> shares;
  // Of each profile of a piece what Profile::values would be. Callable by several threads at once.
  std::function<std::vector<std::vector<ProfileValue>>(const Database& database, size_t piece)> compute;

  // The first profile of a process's share, and one behind the last.
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
  // Whose programs named the files: what one of them may not read is not copied. Written only, and not kept.
  std::vector<uint32_t> measured_users;
  std::vector<Function> functions;
  std::vector<Context> contexts;
  std::vector<Metric> metrics;
  // summaries[metric * contexts.size() + context]; absent contexts have profiles == 0.
  std::vector<Summary> summaries;
  std::vector<Profile> profiles;
  ProfileValues values;  // where compute is there, profiles have none of their own
  // Where it is there, neither profiles nor summaries are read: it has both
  // (analysis/database/stored_values.h).
  std::shared_ptr<const StoredValues> stored;
  std::vector<std::string> task_names;
  LaunchSource launches;                // empty where none are known
  std::vector<std::string> wait_names;  // functions that waited for devices
  DeviceWaitSource device_waits;        // empty where none are known
  std::vector<TraceSource> traces;      // one per profile, empty function where it has none; or empty
  // As many records are written of each trace, where that is known before; or empty.
  std::vector<uint64_t> trace_records;

  // By module, offset and metric. Written only: read_instruction_costs() has those of a database on disk.
  std::vector<InstructionCost> instructions;

  // What the run was and how well it was measured; kept beside HPCToolkit's files in run.json. Nothing for
  // databases that HPCToolkit wrote.
  std::optional<RunSummary> run;

  const Summary& summary(uint32_t metric, uint32_t context) const {
    return summaries[static_cast<size_t>(metric) * contexts.size() + context];
  }
};

}  // namespace prof

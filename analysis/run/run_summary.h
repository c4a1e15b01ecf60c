#pragma once
// Describes what was run and how well it was measured: run.json of a database in typed form. Values that were
// not recorded are unset, as in a database that another tool wrote.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run/contended_record.h"
#include "analysis/run/device_use.h"
#include "analysis/run/lock_record.h"
#include "analysis/run/memory_waste_record.h"
#include "analysis/run/note.h"
#include "analysis/run/repair_record.h"
#include "hpcrun/measurement/format.h"

namespace prof {

using Reasons = std::map<std::string, uint64_t>;

struct StackQuality {
  uint64_t complete = 0, partial = 0, broken = 0;
  Reasons reasons;
  uint64_t all() const { return complete + partial + broken; }
};

// The sampling of a metric.
struct Sampling {
  std::string source;
  std::optional<double> requested_hz, delivered_hz;
  std::optional<uint64_t> samples;
};

struct RunSummary {
  std::string command;  // empty if unknown
  std::string host;
  std::string start;
  std::optional<double> wall_s, cpu_s;
  std::optional<double> run_queue_s;  // at least: threads were ready without a processor, summed
  std::optional<double> program_s;    // of wall_s, without loading, the runtime's start and end, and pauses
  std::optional<int64_t> exit_status;
  std::optional<int64_t> signal;                   // that killed the program
  uint64_t processes = 0, threads = 0, ranks = 0;  // 0 processes or threads: unknown

  bool sampling_recorded = false;             // if false, only the number of samples is known
  Sampling sampling;                          // of the first metric; the samples are those of all
  std::map<std::string, Sampling> by_metric;  // by the metric's name
  Reasons dropped;
  std::optional<double> paused_s;  // of the process that was paused longest

  std::optional<StackQuality> stacks;
  std::optional<double> overhead_cpu_s;
  std::optional<double> overhead_start_s;  // the part without samples: start, and libraries loaded later
  std::optional<double> overhead_hooks_s;  // the part in intercepted calls; not in run.json
  std::optional<uint64_t> runtime_bytes;
  std::vector<Note> notes;
  std::vector<DeviceUse> devices;
  bool looked_for_contention = false;
  std::vector<ContendedRecord> contention;  // separate for each process
  // The sources in which contention was searched; empty if prof did not measure the run.
  std::vector<hpcrun::ContentionSource> contention_sources;
  bool followed_locks = false;
  LocksRecord locks;
  MemoryWasteRecord memory_waste;
  RepairsRecord repairs;  // was_asked_for() is false if no repair was requested

  uint64_t dropped_samples() const;
};

// The sizes of the database that a run belongs to.
struct RunLimits {
  size_t contexts = 0, profiles = 0;
};

// Removes invalid entries: contexts and profiles that the database does not have, places beyond a cache line,
// locks without waits.
void remove_strays(RunSummary& run, RunLimits limits);

}  // namespace prof

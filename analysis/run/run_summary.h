#pragma once
// What was run and how well it was measured: run.json of a database in typed form. Absent is what was not
// recorded, as in a database that another tool wrote.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run/contended_record.h"
#include "analysis/run/device_use.h"
#include "analysis/run/lock_record.h"
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

// How a metric was sampled.
struct Sampling {
  std::string source;
  std::optional<double> requested_hz, delivered_hz;
  std::optional<uint64_t> samples;
};

struct RunSummary {
  std::string command;  // empty: not known
  std::string host;
  std::string start;
  std::optional<double> wall_s, cpu_s;
  std::optional<double> run_queue_s;  // at least, in which threads were ready and had no processor, summed
  std::optional<double> program_s;    // of wall_s, without loading, the runtime's start and end, and pauses
  std::optional<int64_t> exit_status;
  std::optional<int64_t> signal;                   // that killed the program
  uint64_t processes = 0, threads = 0, ranks = 0;  // no processes or threads: not known

  bool sampling_recorded = false;             // else the number of samples is all that is known
  Sampling sampling;                          // of the first metric; the samples are those of all
  std::map<std::string, Sampling> by_metric;  // by its name
  Reasons dropped;
  std::optional<double> paused_s;  // of the process that was paused longest

  std::optional<StackQuality> stacks;
  std::optional<double> overhead_cpu_s;
  std::optional<double> overhead_start_s;  // of that, what is no sample's: start, and libraries loaded later
  std::optional<double> overhead_hooks_s;  // of that, in intercepted calls; not in run.json
  std::optional<uint64_t> runtime_bytes;
  std::vector<Note> notes;
  std::vector<DeviceUse> devices;
  bool looked_for_contention = false;
  std::vector<ContendedRecord> contention;  // of each process its own
  // By what it was looked for; empty where that is not ours.
  std::vector<hpcrun::ContentionSource> contention_sources;
  bool followed_locks = false;
  LocksRecord locks;
  RepairsRecord repairs;  // was_asked_for() is false where nothing was to be repaired

  uint64_t dropped_samples() const;
};

// Of the database that a run is in.
struct RunLimits {
  size_t contexts = 0, profiles = 0;
};

// Leaves out what leads nowhere: contexts and profiles that the database does not have, places beyond a cache
// line, locks for which nobody waited.
void drop_strays(RunSummary& run, RunLimits limits);

}  // namespace prof

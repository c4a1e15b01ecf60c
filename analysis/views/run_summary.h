#pragma once
// What was run and how well it was measured: run.json of a database in typed form. Absent is what was not
// recorded, as in a database that another tool wrote.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/run/contended_record.h"
#include "analysis/run/device_use.h"
#include "analysis/run/lock_record.h"
#include "analysis/run/repair_record.h"
#include "analysis/views/call_tree.h"

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
  std::string command;  // or the program's name
  std::string host;
  std::string start;
  std::optional<double> wall_s, cpu_s;
  std::optional<double> run_queue_s;  // at least, in which threads were ready and had no processor, summed
  std::optional<double> program_s;  // of wall_s, without loading, the runtime's start and end, and pauses
  std::optional<int64_t> exit_status;
  std::optional<int64_t> signal;  // that killed the program
  uint64_t processes = 0, threads = 0, ranks = 0;

  bool sampling_recorded = false;             // else the number of samples is all that is known
  Sampling sampling;                          // of the first metric; the samples are those of all
  std::map<std::string, Sampling> by_metric;  // by its name
  Reasons dropped;
  std::optional<double> paused_s;  // of the process that was paused longest

  std::optional<StackQuality> stacks;
  std::optional<double> overhead_cpu_s;
  std::optional<double> overhead_start_s;  // of that, what is no sample's: start, and libraries loaded later
  std::optional<double> overhead_hooks_s;  // of that, in intercepted calls (overhead.h)
  std::optional<uint64_t> runtime_bytes;
  std::vector<std::string> degradations;
  std::vector<DeviceUse> devices;
  bool looked_for_contention = false;
  std::vector<ContendedRecord> contention;
  // By what it was looked for; empty where that is not ours.
  std::vector<hpcrun::ContentionSource> contention_sources;
  bool followed_locks = false;
  LocksRecord locks;
  RepairsRecord repairs;  // was_asked_for() is false where nothing was to be repaired

  uint64_t dropped_samples() const;
};

// Never fails: what run.json does not say, or says in another form, is derived from the profiles or absent.
RunSummary run_summary(const Database& database);

// Of the first metric that is shown. Samples are not counted by thread and metric: where threads are selected
// they have a share of the metric's samples like that of its cost.
Sampling shown_sampling(const CallTree& tree, const RunSummary& run);

// A reason of a drop or an incomplete stack in plain words, and what to do about it (empty where nothing
// helps). Spelling of the reason does not matter ("NoUnwindInfo", "no unwind info"); unknown ones are
// returned as they are. Empty words: the way a complete stack ends.
struct ReasonWords {
  std::string why, advice;
};
ReasonWords words_for_reason(const std::string& reason);

// True for drops whose time the next sample of the thread counts: nothing is missing from the sums.
bool loses_no_time(const std::string& reason);

// What was counted, by falling count, without what was not found.
template <typename Key>
std::vector<std::pair<Key, uint64_t>> by_count(const std::map<Key, uint64_t>& counts) {
  std::vector<std::pair<Key, uint64_t>> sorted;
  for (const auto& one : counts)
    if (one.second > 0) sorted.emplace_back(one);
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<Key, uint64_t>::second);
  return sorted;
}

}  // namespace prof

#pragma once
// Ranks compared: which of them are slow and for what, who waits for whom, and which behave alike
// (docs/cluster.md; thesis 2.7.2: slow ranks).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/run/spelling.h"
#include "analysis/views/ranks/late_ranks.h"
#include "analysis/views/ranks/rank_costs.h"

namespace prof {

// What ranks are compared by; the activities in the order of RankActivity.
enum class RankQuantity : uint8_t {
  Time,
  Cpu,
  Compute,
  Communication,
  Threads,
  Io,
  Device,
  Start,
  Kernels,
  Copies
};
RankQuantity quantity_of(RankActivity activity);

// "time", "compute": as JSON and CSV spell them (docs/json.md).
template <>
std::span<const Spelling<RankQuantity>> spellings();

// One quantity over all ranks.
struct RankStatistics {
  RankQuantity quantity = RankQuantity::Time;
  double minimum = 0, mean = 0, maximum = 0, stddev = 0;  // seconds; of the population
  double median = 0;                                      // of an even number the lower one
  double deviation = 0;                                   // the median of the distances from it, likewise

  double imbalance() const { return mean > 0 ? maximum / mean - 1 : 0; }
};

// Ranks that take longer for something than nearly all others, by the median and by how much ranks differ
// from it: more than chance makes of samples, and enough to matter.
struct RankOutlier {
  RankQuantity quantity = RankQuantity::Time;
  std::vector<uint32_t> ranks;     // indices into RankCosts::ranks, rising
  std::string node;                // not empty: all ranks of it
  double seconds = 0, median = 0;  // of the ranks, the mean; and of all
  uint32_t location = kNone;       // in which they spend most of what they spend more; kNone: not known
  uint32_t awaited_in = kNone;     // the location at which the others wait longer meanwhile; kNone: none
  double awaited_s = 0;            // so much longer, the mean of the others

  // Where ranks have several threads: of that which communicates, else of all together.
  bool is_of_track = false;
  double share = 0;  // of the excess in a rank's time, or that thread's
  // Of copies, where it is known: how many bytes they copy, over the median of all ranks.
  std::optional<double> bytes_ratio = {};

  double excess() const { return seconds - median; }
};

// Waiting in one call that most ranks do longer than those who come late to it.
struct RankImbalance {
  uint32_t location = 0;       // where they wait
  double seconds = 0;          // the mean over all ranks, of the thread that communicates
  double avoidable = 0;        // of it: beyond what the late ones wait
  std::vector<uint32_t> late;  // indices into RankCosts::ranks
  uint32_t blamed = kNone;     // the location where these spend more than the others; kNone: not known
  double blamed_s = 0;         // so much more, the mean of the late ones
  bool late_sleep = false;     // CPU time does not say what they do
};

// Ranks that spend their time alike: their shares by location differ by less than chance and a fifth.
struct RankCluster {
  std::vector<uint32_t> ranks;   // indices into RankCosts::ranks, rising; the first one is the pattern
  double seconds = 0;            // the mean
  std::vector<uint32_t> locations;  // the most expensive three
  std::vector<double> shares;    // of these, 0..1
};

struct RankReport {
  RankCosts costs;
  std::vector<RankStatistics> statistics;
  RankStatistics track;                   // of the time of each rank's thread that communicates
  std::vector<RankOutlier> outliers;      // by falling share
  std::vector<RankImbalance> imbalances;  // by falling avoidable time; none that an outlier explains
  std::vector<RankCluster> clusters;      // by falling size; at most kMaxClusters, the last one of all others
  std::vector<uint32_t> cluster_of;   // per rank
  // Who was late, by the traces, where ranks wait for longer than the above explains; and how much a rank
  // waits for ranks that are late alternately, which is a finding.
  std::optional<LateRanks> late;
  double late_by_turns_s = 0;      // the mean over all ranks; 0: that is none
  bool would_need_traces = false;  // to tell who is late
  // Where ranks had no processor for a fifth of the time or more: the part for which they had one. Waiting
  // that nothing else explains is then blamed on nobody.
  std::optional<double> had_processor;

  // Never nullptr if there are two ranks or more.
  const RankStatistics* find(RankQuantity quantity) const;
};
constexpr size_t kMaxClusters = 16;

// Why a run cannot be compared by ranks, as one line; nothing if it can.
std::optional<std::string> reason_no_ranks(const CallTree& tree);

RankReport rank_report(const CallTree& tree, const RunSummary& run, RankOptions options = {});

}  // namespace prof

#pragma once
// Compares ranks: which of them are slow and why, which wait for which, and which behave alike
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

// The quantities by which ranks are compared; the activities in the order of RankActivity.
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
  double median = 0;                                      // the lower one if the number of ranks is even
  double deviation = 0;                                   // the median of the distances from it, likewise

  double imbalance() const { return mean > 0 ? maximum / mean - 1 : 0; }
};

// Ranks that take longer for something than nearly all others: by more than the spread around the median and
// the sampling error explain, and enough to matter.
struct RankOutlier {
  RankQuantity quantity = RankQuantity::Time;
  std::vector<uint32_t> ranks;     // indices into RankCosts::ranks, rising
  std::string node;                // not empty: all ranks of it
  double seconds = 0, median = 0;  // of the ranks, the mean; and of all ranks
  uint32_t location = kNone;       // the location at which they spend most of the excess; kNone: not known
  uint32_t awaited_in = kNone;     // at which the other ranks wait longer meanwhile; kNone: not known
  double awaited_s = 0;            // so much longer, the mean of the other ranks

  // If ranks have several threads: by the communicating thread or by all together.
  bool is_of_track = false;
  double share = 0;  // of the excess in the time of a rank, or of that thread
  // For copies, if known: the copied bytes, relative to the median of all ranks.
  std::optional<double> bytes_ratio = {};

  double excess() const { return seconds - median; }
};

// Waiting in one call, in which most ranks wait longer than those that enter it late.
struct RankImbalance {
  uint32_t location = 0;       // in which they wait
  double seconds = 0;          // the mean over all ranks, of the communicating thread
  double avoidable = 0;        // of it: beyond the wait of the late ranks
  std::vector<uint32_t> late;  // indices into RankCosts::ranks
  uint32_t blamed = kNone;     // at which the late ranks spend more than the others; kNone: not known
  double blamed_s = 0;         // so much more, the mean of the late ranks
  bool late_sleep = false;     // CPU time does not show what they do
};

// Ranks that spend their time alike: their shares by location differ by less than a fifth plus the sampling
// error.
struct RankCluster {
  std::vector<uint32_t> ranks;   // indices into RankCosts::ranks, rising; the first one is the pattern
  double seconds = 0;            // the mean
  std::vector<uint32_t> locations;  // the most expensive three
  std::vector<double> shares;    // of these, 0..1
};

struct RankReport {
  RankCosts costs;
  std::vector<RankStatistics> statistics;
  RankStatistics track;                   // of the time of each rank's communicating thread
  std::vector<RankOutlier> outliers;      // by falling share
  std::vector<RankImbalance> imbalances;  // by falling size; at most kMaxClusters, the last one for the rest
  std::vector<RankCluster>
      clusters;  // by falling size; at most kMaxClusters, the last one with all other ranks
  std::vector<uint32_t> cluster_of;   // per rank
  // The late ranks, according to traces, if ranks wait for longer than the above explains. Also how much a
  // rank waits for ranks that are late in turn, which is a finding.
  std::optional<LateRanks> late;
  double late_by_turns_s = 0;      // the mean over all ranks; 0: not reported
  bool would_need_traces = false;  // to find the late ranks
  // The share of the time for which ranks had a processor, if they had none for a fifth of the time or more.
  // Waiting that nothing else explains is then blamed on no rank.
  std::optional<double> had_processor;

  // Never nullptr if there are two ranks or more.
  const RankStatistics* find(RankQuantity quantity) const;
};
constexpr size_t kMaxClusters = 16;

// Returns why a run cannot be compared by ranks, as one line; nothing if it can.
std::optional<std::string> reason_no_ranks(const CallTree& tree);

RankReport rank_report(const CallTree& tree, const RunSummary& run, RankOptions options = {});

}  // namespace prof

#pragma once
// The data from which the report on ranks (rank_report.h) is made: costs, their typical values, the effect of
// sampling on them, and whether ranks had processors. For one thread only.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/views/ranks/rank_processors.h"
#include "analysis/views/ranks/rank_quantities.h"
#include "analysis/views/ranks/rank_report.h"

namespace prof {

// A finding needs this share of a rank's time, and this many standard deviations of the sampling error.
constexpr double kMinShare = 0.10;
constexpr double kChance = 5;
// An explanation covers at least this share of the effect.
constexpr double kExplained = 0.3;

class RankComparison {
 public:
  // All of it must outlive this object; `report` has the costs. `jobs`: threads with which to read traces.
  RankComparison(const CallTree& tree, const RunSummary& run, RankReport& report, int jobs);

  const CallTree& tree() const { return tree_; }
  RankReport& report() const { return report_; }
  const std::vector<RankCost>& ranks() const { return report_.costs.ranks; }
  // The locations of all threads of a rank, and of the communicating one.
  const DenseRankLocations& all_locations() const { return all_locations_; }
  const DenseRankLocations& track_locations() const { return track_locations_; }
  RankActivity activity(const DenseRankLocations& locations, size_t i) const {
    return report_.costs.locations[locations.location(i)].activity;
  }
  bool has_threads() const { return has_threads_; }  // that do other work than the communicating thread
  double period_s() const { return period_s_; }      // of the samples
  int jobs() const { return jobs_; }

  RankValues values_of(const RankQuantityOf& of) const;
  // Other ranks wait for the communicating thread, and the sum over sixteen threads says nothing about it. If
  // the rank has one thread, both are the same.
  double typical_track() const { return report_.track.median; }
  // The standard deviation of a sampled cost.
  double chance(double seconds) const;

  // True if ranks are compared by elapsed time; otherwise by CPU time.
  bool is_of_clock() const;
  // By the CPU time of the communicating threads, which explains a wait of as many seconds.
  bool computes_longer(const std::vector<uint32_t>& late, double seconds) const;
  // The report then states it.
  bool lacked_processors(const std::vector<uint32_t>& waiting);
  // Returns seconds, the mean of these ranks, by traces.
  double lack_of_processors(const std::vector<uint32_t>& ranks);

 private:
  const CallTree& tree_;
  RankReport& report_;
  const DenseRankLocations all_locations_, track_locations_;
  ProcessorShare processors_;
  bool has_threads_ = false;
  double period_s_;
  int jobs_;
};

double mean_of(const RankValues& values, const std::vector<uint32_t>& ranks);
double mean_of_others(const RankValues& values, const std::vector<uint32_t>& ranks);

// Each adds its part to the report: statistics and outliers (rank_outliers.cpp), groups (rank_clusters.cpp),
// and the waits between ranks that outliers do not explain (rank_waits.cpp).
void find_rank_outliers(RankComparison& comparison);
void find_rank_clusters(const RankComparison& comparison);
void find_rank_waits(RankComparison& comparison);

}  // namespace prof

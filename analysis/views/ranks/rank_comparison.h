#pragma once
// What a comparison of ranks goes by while its report (rank_report.h) is made: costs, what is typical of
// them, what chance makes of samples, and whether ranks had processors. Of one thread.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/views/ranks/rank_processors.h"
#include "analysis/views/ranks/rank_quantities.h"
#include "analysis/views/ranks/rank_report.h"

namespace prof {

// Worth a finding is so much of a rank's time, and so many standard deviations of what samples leave
// to chance.
constexpr double kMinShare = 0.10;
constexpr double kChance = 5;
// What explains another thing is at least this part of it.
constexpr double kExplained = 0.3;

class RankComparison {
 public:
  // All of it must outlive this; `report` has the costs. `jobs`: threads to read traces with.
  RankComparison(const CallTree& tree, const RunSummary& run, RankReport& report, int jobs);

  const CallTree& tree() const { return tree_; }
  RankReport& report() const { return report_; }
  const std::vector<RankCost>& ranks() const { return report_.costs.ranks; }
  // The locations of all threads of a rank, and of the one that communicates.
  const DenseRankLocations& all_locations() const { return all_locations_; }
  const DenseRankLocations& track_locations() const { return track_locations_; }
  RankActivity activity(const DenseRankLocations& locations, size_t i) const {
    return report_.costs.locations[locations.location(i)].activity;
  }
  bool has_threads() const { return has_threads_; }  // that do something beside the one that communicates
  double period_s() const { return period_s_; }      // of the samples
  int jobs() const { return jobs_; }

  RankValues values_of(const RankQuantityOf& of) const;
  // What makes others wait is what the thread does that communicates: the sum over sixteen threads is none of
  // it. Of one thread it is the same.
  double typical_track() const { return report_.track.median; }
  // What chance makes of a cost that is sampled, as a standard deviation.
  double chance(double seconds) const;

  // Else in CPU time.
  bool is_of_clock() const;
  // By the CPU time of their communicating threads, so that it explains a wait of so many seconds.
  bool computes_longer(const std::vector<uint32_t>& late, double seconds) const;
  // The report says that it was so.
  bool lacked_processors(const std::vector<uint32_t>& waiting);
  // Seconds, the mean of these ranks, by traces.
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

// Each adds to the report what is its: statistics and outliers (rank_outliers.cpp), groups
// (rank_clusters.cpp), and who waits for whom beyond what outliers explain (rank_waits.cpp).
void find_rank_outliers(RankComparison& comparison);
void find_rank_clusters(const RankComparison& comparison);
void find_rank_waits(RankComparison& comparison);

}  // namespace prof

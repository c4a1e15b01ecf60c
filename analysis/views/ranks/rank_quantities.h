#pragma once
// What ranks are compared by: numbers for each of them, and what is typical of these.

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/views/ranks/rank_report.h"

namespace prof {

using RankValues = std::vector<double>;  // as RankCosts::ranks

double lower_median(RankValues values);
RankStatistics statistics_of(RankQuantity quantity, const RankValues& values);

using RankQuantityOf = std::function<double(const RankCost&)>;

struct ComparedQuantity {
  RankQuantity quantity;
  bool is_judged;  // else a rank that has more of it is no slower for that
  bool is_sampled;
  RankQuantityOf of;
  RankQuantityOf of_track = {};  // of the thread that communicates; none of what is no thread's
};

const std::vector<ComparedQuantity>& compared_quantities();

// The most expensive locations of all ranks, and those that are expensive in any of them, with the costs of
// each rank.
class DenseRankLocations {
 public:
  // Of all threads of a rank, or of the one that communicates.
  DenseRankLocations(const RankCosts& costs, bool of_track);

  size_t size() const { return locations_.size(); }
  uint32_t location(size_t i) const { return locations_[i]; }
  const RankValues& costs(size_t i) const { return costs_[i]; }  // by rank

 private:
  std::vector<uint32_t> locations_;
  std::vector<RankValues> costs_;
};

}  // namespace prof

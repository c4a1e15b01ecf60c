#pragma once
// The numbers by which ranks are compared, and their typical values.

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
  bool is_judged;  // if false, a rank with more of it is not slower
  bool is_sampled;
  RankQuantityOf of;
  RankQuantityOf of_track = {};  // of the communicating thread; empty if it is not a thread's quantity
};

const std::vector<ComparedQuantity>& compared_quantities();

// The most expensive locations of all ranks, and those that are expensive in any of them, with the costs of
// each rank.
class DenseRankLocations {
 public:
  // For all threads of a rank, or for the communicating thread.
  DenseRankLocations(const RankCosts& costs, bool of_track);

  size_t size() const { return locations_.size(); }
  uint32_t location(size_t i) const { return locations_[i]; }
  const RankValues& costs(size_t i) const { return costs_[i]; }  // by rank

 private:
  std::vector<uint32_t> locations_;
  std::vector<RankValues> costs_;
};

}  // namespace prof

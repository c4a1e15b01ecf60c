#pragma once
// Determines the location of the program in which each context is, and a thread's activity there
// (RankLocation).

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/views/ranks/rank_costs.h"

namespace prof {

class RankLocations {
 public:
  explicit RankLocations(const Database& database);

  const std::vector<uint32_t>& location_of() const { return location_of_; }  // by context
  std::vector<RankLocation> take() { return std::move(locations_); }
  size_t size() const { return locations_.size(); }
  // By context: 1 if it computes in the program's own code, which waits for nothing but a processor, whereas
  // the C library or the kernel may sleep. Otherwise 0.
  std::vector<uint32_t> ready_code() const;
  RankActivity activity(uint32_t location) const { return locations_[location].activity; }

  // Decided for all ranks together, so that it does not depend on their order.
  void find_dearest_contexts(const CallTree& tree);

 private:
  uint32_t number_of(const RankLocation& location);

  const Database& database_;
  std::vector<uint32_t> location_of_;
  std::vector<RankLocation> locations_;
  std::map<std::tuple<RankActivity, uint32_t, uint32_t, uint32_t>, uint32_t> numbers_;
};

}  // namespace prof

#pragma once
// Determines the place of the program in which each context is, and a thread's activity there (RankPlace).

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/views/ranks/rank_costs.h"

namespace prof {

class RankPlaces {
 public:
  explicit RankPlaces(const Database& database);

  const std::vector<uint32_t>& place_of() const { return place_of_; }  // by context
  std::vector<RankPlace> take() { return std::move(places_); }
  size_t size() const { return places_.size(); }
  // By context: 1 if it computes in the program's own code, which waits for nothing but a processor, whereas
  // the C library or the kernel may sleep. Otherwise 0.
  std::vector<uint32_t> ready_code() const;
  RankActivity activity(uint32_t place) const { return places_[place].activity; }

  // Decided for all ranks together, so that it does not depend on their order.
  void find_dearest_contexts(const CallTree& tree);

 private:
  uint32_t number_of(const RankPlace& place);

  const Database& database_;
  std::vector<uint32_t> place_of_;
  std::vector<RankPlace> places_;
  std::map<std::tuple<RankActivity, uint32_t, uint32_t, uint32_t>, uint32_t> numbers_;
};

}  // namespace prof

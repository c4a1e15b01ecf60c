#pragma once
// Rows for intervals of which some overlap, as the tasks of a queue that need not keep their order do.

#include <cstdint>
#include <set>
#include <utility>

namespace prof {

class Lanes {
 public:
  // The number of the lane for an interval: of those in which everything ended before it begins the one that
  // did so last, otherwise a new one, numbered after the others. In any order, and with the fewest lanes
  // where intervals come by their begin or end.
  uint32_t place(uint64_t begin, uint64_t end) {
    auto at = by_end_.upper_bound({begin, UINT32_MAX});
    uint32_t lane = static_cast<uint32_t>(by_end_.size());
    if (at != by_end_.begin()) {
      lane = (--at)->second;
      by_end_.erase(at);
    }
    by_end_.insert({end, lane});
    return lane;
  }

 private:
  std::set<std::pair<uint64_t, uint32_t>> by_end_;  // when each lane's last interval ends
};

}  // namespace prof

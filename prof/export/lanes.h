#pragma once
// Assigns rows to intervals that may overlap, such as tasks of a queue that runs them out of order.

#include <cstdint>
#include <set>
#include <utility>

namespace prof {

class Lanes {
 public:
  // Returns the lane for an interval: among the lanes that are free when it begins, the one that became free
  // last; otherwise a new one, with the next number. Accepts intervals in any order, and uses the fewest
  // lanes if they are sorted by start or end.
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
  std::set<std::pair<uint64_t, uint32_t>> by_end_;  // end of each lane's last interval
};

}  // namespace prof

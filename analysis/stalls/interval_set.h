#pragma once
// A set of points in time, stored as disjoint half-open intervals in order. Intervals that overlap or touch
// are merged. Not thread-safe.

#include <cstdint>
#include <map>

namespace prof {

class IntervalSet {
 public:
  using Intervals = std::map<uint64_t, uint64_t>;  // begin -> end

  // Both in amortised O(log n). An interval that is empty or reversed changes nothing.
  void add(uint64_t begin, uint64_t end);
  void remove(uint64_t begin, uint64_t end);

  // Returns how much of [begin, end) is in the set; 0 if that is empty.
  uint64_t overlap(uint64_t begin, uint64_t end) const;
  uint64_t total() const;

  bool empty() const { return intervals_.empty(); }
  Intervals::const_iterator begin() const { return intervals_.begin(); }
  Intervals::const_iterator end() const { return intervals_.end(); }
  // Returns the first interval that ends after `time`.
  Intervals::const_iterator first_after(uint64_t time) const;

 private:
  Intervals intervals_;
};

}  // namespace prof

#pragma once
// Statistics over threads for rows that consist of several nodes of the call tree.

#include <cstdint>
#include <stop_token>
#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof {

// Over the threads in which a row occurs (count): the minimum ignores threads in which it does not.
struct Spread {
  double sum = 0, minimum = 0, maximum = 0, sum_of_squares = 0;
  uint32_t count = 0;

  void add(double value);
  double mean() const { return count > 0 ? sum / count : 0; }
  double stddev() const;  // of the population
};

struct ThreadSpread {
  Spread inclusive, exclusive;
};

// A node as part of a row; inside another instance of the same row its inclusive cost is already counted.
struct Instance {
  uint32_t node;
  bool outermost;
};

class ThreadCosts {
 public:
  // Must not be used after a request to stop.
  explicit ThreadCosts(const CallTree& tree, const std::stop_token& stop = {});

  ThreadSpread spread(const std::vector<Instance>& instances, size_t metric) const;

 private:
  struct Entry {
    uint32_t node, metric, profile;
    Cost cost;
  };
  // Keeps the costs at the touched places of `scratch`, and clears both.
  void take_profile(uint32_t profile, std::vector<Cost>& scratch, std::vector<uint32_t>& touched);

  std::vector<Entry> entries_;  // by (node, metric, profile)
  std::vector<size_t> first_;   // per node * metric: its first entry; one more at the end
  size_t metrics_;
  mutable std::vector<Cost> per_profile_;
  mutable std::vector<uint32_t> seen_, touched_;
  mutable uint32_t round_ = 0;
};

}  // namespace prof

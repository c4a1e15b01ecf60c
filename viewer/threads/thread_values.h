#pragma once
// The cost of each thread, in the whole program or in one function, and which threads are outliers. Without
// Qt.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof::viewer {

enum class CostKind : uint8_t { Inclusive, Exclusive };

// Returns the cost of each profile of the tree's database, selected or not, in the metric (an index into
// Database::metrics). It is the cost in the function (an index into CallTree::frames), or without one the
// total. Recursion counts once. The exclusive total equals the inclusive one.
std::vector<double> thread_values(const CallTree& tree, uint32_t metric, std::optional<uint32_t> frame,
                                  CostKind kind);

// Returns the profiles for which a metric can be compared, ascending. Device queues are left out if only
// threads have any of it, and threads if only queues do.
std::vector<uint32_t> comparable(const Database& database, const std::vector<double>& values);

struct Distribution {
  double minimum = 0, first_quartile = 0, median = 0, third_quartile = 0, maximum = 0;
  double mean = 0, stddev = 0;  // of the population
  // Limits beyond which a value is an outlier: 1.5 times the interquartile range from the quartiles (Tukey),
  // and at least a twentieth of the median from it, so that threads with equal work have no outliers.
  double low = 0, high = 0;

  bool is_outlier(double value) const { return value < low || value > high; }
};

// Returns zeros if there are no values.
Distribution distribution(std::vector<double> values);

// Returns how many values fall into each of `bins` equal parts of [minimum, maximum].
std::vector<size_t> histogram(const std::vector<double>& values, const Distribution& distribution,
                              size_t bins);
// Returns the part that contains the value.
size_t bin_of(double value, const Distribution& distribution, size_t bins);

}  // namespace prof::viewer

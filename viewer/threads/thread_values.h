#pragma once
// What each thread spent, in the whole program or in one function, and which of them are out of line. No Qt.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/views/call_tree.h"

namespace prof::viewer {

enum class CostKind : uint8_t { Inclusive, Exclusive };

// Of each profile of the tree's database, whether it is selected or not: what it spent of the metric (an
// index into Database::metrics) in this function (an index into CallTree::frames), or without one in all.
// Recursion counts once. All that is exclusive is as much as all that is inclusive.
std::vector<double> thread_values(const CallTree& tree, uint32_t metric, std::optional<uint32_t> frame,
                                  CostKind kind);

// Of which profiles a metric can be compared: without the queues of devices where only threads have any of
// it, and without the threads where only queues have. Rising.
std::vector<uint32_t> comparable(const Database& database, const std::vector<double>& values);

struct Distribution {
  double minimum = 0, first_quartile = 0, median = 0, third_quartile = 0, maximum = 0;
  double mean = 0, stddev = 0;  // of the population
  // Beyond these a value is an outlier: 1.5 times the distance of the quartiles from them (Tukey), and at
  // least a twentieth of the median from it, so that threads that do the same are none.
  double low = 0, high = 0;

  bool is_outlier(double value) const { return value < low || value > high; }
};

// All zero for no values.
Distribution distribution(std::vector<double> values);

// How many values fall into each of so many equal parts of [minimum, maximum].
std::vector<size_t> histogram(const std::vector<double>& values, const Distribution& distribution,
                              size_t bins);
// The part that a value falls into.
size_t bin_of(double value, const Distribution& distribution, size_t bins);

}  // namespace prof::viewer

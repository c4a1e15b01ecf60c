#pragma once
// Formats the changes from one run to another as sentences, which are the same in every report.

#include <string>

#include "analysis/views/compare/comparison.h"

namespace prof {

// Returns "+1.20 s", "-3.1 MiB" or "+1,200", with the sign; "0" if nothing changed.
std::string format_difference(const Metric& metric, const Change& change);

// Returns "x 1.50" or "x 0.02", the factor; "new" or "gone" for rows that one run does not have; "from 0" or
// "to 0"; empty if both are 0.
std::string format_ratio(const Change& change, Presence presence);

// Returns "6.00 s instead of 4.00 s, 2.00 s more (x 1.50)" or "the same, 4.00 s".
std::string format_change(const Metric& metric, const Change& change);

// Returns "4.00 s", "2.1 MiB" or "1,200", in the metric's unit.
std::string format_amount(const Metric& metric, double value);

// Formats all metrics of a run: "CPUTIME: 12.0 s instead of 10.0 s, ...". Names the run if only one of them
// has a metric.
std::string format_total_change(const CallTree& tree, size_t metric);

// Formats the function's own cost: "6.00 s instead of 4.00 s, 2.00 s more (x 1.50)". If one run does not have
// the function: "2.00 s, new" or "gone: was 4.00 s".
std::string format_function_change(const CallTree& tree, const FunctionChange& change, size_t metric);

// Returns "the costs after are multiplied by 0.83, for equal totals"; empty if they are not.
std::string format_scale(const CallTree& tree, size_t metric);

}  // namespace prof

#pragma once
// What changed from one run to another, as sentences: the same in every report.

#include <string>

#include "analysis/views/compare/comparison.h"

namespace prof {

// "+1.20 s", "-3.1 MiB", "+1,200": with its sign; "0" where it is the same.
std::string format_difference(const Metric& metric, const Change& change);

// "x 1.50" and "x 0.02" of what was before; "new" and "gone" of rows that one run does not have; "from 0",
// "to 0", and empty if there was and is nothing.
std::string format_ratio(const Change& change, Presence presence);

// "6.00 s instead of 4.00 s, 2.00 s more (x 1.50)"; "the same, 4.00 s".
std::string format_change(const Metric& metric, const Change& change);

// "4.00 s", "2.1 MiB", "1,200": in the metric's unit.
std::string format_amount(const Metric& metric, double value);

// All of a run: "CPUTIME: 12.0 s instead of 10.0 s, ..."; says where it was measured in one of them only.
std::string format_total_change(const CallTree& tree, size_t metric);

// What a function itself cost: "6.00 s instead of 4.00 s, 2.00 s more (x 1.50)", and of functions that one
// run does not have "2.00 s, new" or "gone: was 4.00 s".
std::string format_function_change(const CallTree& tree, const FunctionChange& change, size_t metric);

// "the costs after are multiplied by 0.83, for equal totals"; empty if they are not.
std::string format_scale(const CallTree& tree, size_t metric);

}  // namespace prof

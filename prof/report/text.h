#pragma once
// What the text reports share: numbers in columns, and the rows of CSV.

#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "prof/base/terminal.h"
#include "prof/report/renderers.h"

namespace prof {

constexpr size_t kShareColumns = 8;  // " 100.0 %"

std::string words_for_value(const Metric& metric, double value);  // in a column, without unit
std::string words_for_total(const Metric& metric, double value);  // with unit

// "function,file,line" of the innermost frame, as CSV; empty fields where there is none.
std::string leaf_as_csv(const std::vector<FindingFrame>& frames);

}  // namespace prof

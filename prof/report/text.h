#pragma once
// Helpers of all text reports: numbers in columns, and rows of CSV.

#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/words/code_frame.h"
#include "prof/base/terminal.h"
#include "prof/report/renderers.h"

namespace prof {

constexpr size_t kShareColumns = 8;  // " 100.0 %"

std::string format_value(const Metric& metric, double value);  // in a column, without unit
std::string format_total(const Metric& metric, double value);  // with unit

// Returns "function,file,line" of the innermost frame for CSV; empty fields if there is none.
std::string leaf_as_csv(const std::vector<CodeFrame>& frames);

}  // namespace prof

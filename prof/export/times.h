#pragma once
// Start times, for formats that show time.

#include <cstdint>

#include "analysis/views/run/run_summary.h"

namespace prof {

// Returns when the run started, in ns since the epoch; 0 if not known.
int64_t start_ns(const RunSummary& run);

}  // namespace prof

#pragma once
// When things happened, for formats that show time.

#include <cstdint>

#include "analysis/views/run_summary.h"

namespace prof {

// When the run started, in ns since the epoch; 0 where that is not known.
int64_t start_ns(const RunSummary& run);

}  // namespace prof

#pragma once
// Completes `prof run` once the program has ended: completes the directory, analyzes, and prints the summary.

#include <optional>

#include "prof/ranks/rank_part.h"
#include "prof/run/execute.h"
#include "prof/run/plan.h"

namespace prof {

// Returns the exit status of `prof run`: the program's. Of many ranks, one does this for all; the others
// return at once. An analysis that fails is one line on standard error.
int finish(const RunPlan& plan, const std::optional<RankPart>& rank, const MeasuredRun& run);

}  // namespace prof

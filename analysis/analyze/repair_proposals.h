#pragma once
// Proposes repairs of the running program for repair.json, with the findings that justify them.

#include <vector>

#include "analysis/database/model.h"
#include "analysis/pipeline/pipeline.h"
#include "analysis/repair/repair_file.h"

namespace prof {

// Returns what an analysis proposes. Names and sentences come from `database`. `contention` are its records,
// separate for each process; `placed` is what the runtime has already placed.
RepairFile proposed_repairs(const Database& database, const std::vector<ContendedRecord>& contention,
                            const std::vector<PlacedSite>& placed);

}  // namespace prof

#pragma once
// What could be laid out anew in the running program, as repair.json has it, with the findings that say why.

#include <vector>

#include "analysis/database/model.h"
#include "analysis/pipeline/pipeline.h"
#include "analysis/repair/repair_file.h"

namespace prof {

// What an analysis proposes. Words and reasons are those of `database`, of which `contention` are the
// records, of each process its own; `placed` is what the runtime placed already.
RepairFile proposed_repairs(const Database& database, const std::vector<ContendedRecord>& contention,
                            const std::vector<PlacedSite>& placed);

}  // namespace prof

#pragma once
// All that prof finds in a run: what the summary shows, and findings.sqlite keeps (docs/database.md).

#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/stalls/stalls.h"
#include "analysis/team/team.h"
#include "analysis/views/findings.h"
#include "analysis/views/rank_costs.h"
#include "analysis/views/stall_findings.h"

namespace prof {

// With the stalls that were found; nullptr: without any.
std::vector<Finding> all_findings(const CallTree& tree, const RunSummary& run, const StallReport* stalls,
                                  RankOptions ranks = {});

// Those of the profile and, where its traces can tell, stalls; in the order of find(). Throws DatabaseError
// where a trace cannot be read.
std::vector<Finding> all_findings(const CallTree& tree, const RunSummary& run, const StallOptions& stalls,
                                  RankOptions ranks = {});

// Writes findings.sqlite into the directory of the database, in the place of the one that is there: the
// findings of the whole run under default options. Throws DatabaseError where it cannot be written.
// Of a team each process calls it, and counts what some ranks spent; the first one, which alone needs
// summaries, writes. `jobs`: as RankOptions has them.
void write_findings(const Database& database, const std::filesystem::path& directory,
                    Team& team = Team::alone(), int jobs = 0);

}  // namespace prof

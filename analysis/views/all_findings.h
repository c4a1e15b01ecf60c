#pragma once
// All that prof finds in a run: what the summary shows, and findings.sqlite keeps (docs/database.md).

#include <filesystem>
#include <vector>

#include "analysis/stalls/stalls.h"
#include "analysis/views/findings.h"
#include "analysis/views/stall_findings.h"

namespace prof {

// With the stalls that were found; nullptr: without any.
std::vector<Finding> all_findings(const CallTree& tree, const RunSummary& run, const StallReport* stalls);

// Those of the profile and, where its traces can tell, stalls; in the order of find(). Throws DatabaseError
// where a trace cannot be read.
std::vector<Finding> all_findings(const CallTree& tree, const RunSummary& run, const StallOptions& stalls);

// Writes findings.sqlite into the directory of the database, in the place of the one that is there: the
// findings of the whole run under default options. Throws DatabaseError where it cannot be written.
void write_findings(const Database& database, const std::filesystem::path& directory);

}  // namespace prof

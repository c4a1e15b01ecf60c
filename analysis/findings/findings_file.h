#pragma once
// findings.sqlite: the findings of a run, for tools that query them (docs/database.md).

#include <filesystem>

#include "analysis/database/model.h"
#include "analysis/workers/workers.h"

namespace prof {

// Writes findings.sqlite into the directory of the database, in the place of the one that is there: the
// findings of the whole run under default options. Throws DatabaseError if it cannot be written.
// Each of several workers calls it, and counts what some ranks spent; the first one, which alone needs
// summaries, writes. `jobs`: as RankOptions has them.
void write_findings(const Database& database, const std::filesystem::path& directory,
                    AnalysisWorkers& workers = AnalysisWorkers::alone(), int jobs = 0);

}  // namespace prof

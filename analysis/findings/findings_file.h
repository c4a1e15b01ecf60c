#pragma once
// findings.sqlite: the findings of a run, for tools that query them (docs/database.md).

#include <filesystem>

#include "analysis/database/model.h"
#include "analysis/workers/workers.h"

namespace prof {

// Writes findings.sqlite into the directory of the database, and replaces an existing one: the findings of
// the whole run under default options. Throws DatabaseError if it cannot be written. Must be called by each
// worker, which counts the costs of some ranks. The first one, which alone needs summaries, writes.
// `jobs`: as in RankOptions.
void write_findings(const Database& database, const std::filesystem::path& directory,
                    AnalysisWorkers& workers = AnalysisWorkers::alone(), int jobs = 0);

}  // namespace prof

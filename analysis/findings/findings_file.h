#pragma once
// findings.sqlite: the findings of a run, for tools that query them (docs/database.md).

#include <filesystem>

#include "analysis/database/model.h"
#include "analysis/team/team.h"

namespace prof {

// Writes findings.sqlite into the directory of the database, replacing an existing one: the
// findings of the whole run under default options. Throws DatabaseError if it cannot be written.
// Each process of a team calls it and adds up the costs of some ranks. The first one writes the file; only it
// needs summaries. `jobs`: as in RankOptions.
void write_findings(const Database& database, const std::filesystem::path& directory,
                    Team& team = Team::alone(), int jobs = 0);

}  // namespace prof

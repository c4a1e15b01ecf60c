#pragma once
// Databases of measurement directories, which are analyzed when they are needed.

#include <filesystem>
#include <functional>

#include "analysis/analyze/run_analyze.h"
#include "analysis/database/database.h"
#include "prof/ranks/analysis_team.h"

namespace prof {

// Analyzes as one of the processes that a launcher started, or alone; options.jobs = 0 uses all processors.
// Returns the database's path. Throws CommandError (125), or what the analysis throws.
std::filesystem::path analyze_in_team(AnalyzeOptions options, const TeamRequest& request);

// The database of a measurement directory, analyzed with default options where it is missing or older than
// the measurements: into DIR/database, or where that cannot be written in memory only, with a line that says
// so. Throws what the analysis throws.
Database database_of(const std::filesystem::path& directory, ReadValues when);

// What a user names: a database, or a measurement directory, which is analyzed where it was not yet. Throws
// what reader and analysis throw.
Database open_database(const std::filesystem::path& path, ReadValues when);

// What `prof run` does at its end: analyzes into DIR/database, prints the summary and, last, the database's
// path. An analysis that fails is one line on standard error: the program's exit status stands. `analyzed`:
// called before anything is shown.
void analyze_and_summarize(const std::filesystem::path& directory,
                           const std::function<void()>& analyzed = {});

}  // namespace prof

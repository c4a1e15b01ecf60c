#pragma once
// Databases of measurement directories, which are analyzed on demand.

#include <filesystem>
#include <functional>

#include "analysis/analyze/run_analyze.h"
#include "analysis/database/database.h"
#include "prof/ranks/analysis_workers.h"

namespace prof {

// Analyzes as one of the processes that a launcher started, or alone. options.jobs = 0 uses all processors.
// Returns the database's path. Throws CommandError (125), or what the analysis throws.
std::filesystem::path analyze_with_workers(AnalyzeOptions options, const WorkersRequest& request);

// Returns the database of a measurement directory. If it is missing or older than the measurements, analyzes
// with default options into DIR/database. If that cannot be written, the result stays in memory, and one line
// says so. Throws what the analysis throws.
Database database_of(const std::filesystem::path& directory, ReadValues when);

// Opens a database, or a measurement directory, which is analyzed if necessary. Throws what reader and
// analysis throw.
Database open_database(const std::filesystem::path& path, ReadValues when);

// Completes `prof run`: analyzes into DIR/database, and prints the summary and, last, the database's path. An
// analysis that fails is one line on standard error, and the program's exit status is kept. `analyzed`:
// called before anything is printed.
void analyze_and_summarize(const std::filesystem::path& directory,
                           const std::function<void()>& analyzed = {});

}  // namespace prof

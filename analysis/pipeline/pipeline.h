#pragma once
// From measurement directories to a database in memory: reads the measurement files, attributes their
// addresses to source, merges all threads' calling context trees into one, and computes metrics and
// statistics.
//
// Shape of the tree: Entry ("main thread", "application thread") -> Function (Call) -> Line (Enclosing) ->
// Function (Call or InlinedCall) -> ... A Line is the call site of what is below it, the sampled line, or
// both; where no line is known, calls and values go to the Function itself. A context's point value is what
// was sampled right there; exclusive is the same for a Line, and for a Function the sum over its lines;
// inclusive adds everything below.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/database/model.h"
#include "analysis/database/progress.h"
#include "analysis/repair/repair_file.h"
#include "analysis/run/contended_record.h"
#include "analysis/team/team.h"

namespace prof {

struct AnalyzeOptions {
  // Folds recursion: a function that is on its own call path already continues at that occurrence, so
  // that a -> b -> a -> c becomes a -> b and a -> c. Direct and indirect recursion, inlined or not.
  bool merge_recursion = false;
  bool copy_sources = true;       // into the database, by run_analyze()
  int jobs = 1;                   // threads to use; the result does not depend on it
  size_t kept_bytes = 512 << 20;  // of measurements, between the steps that read them
  bool leaves_values = false;     // in the measurements: Database::values computes them
  AttributionOptions attribution;
  Progress progress;
  Team* team = &Team::alone();  // of which this process does a share
};

// what() is one line: what is wrong, where, the remedy.
class AnalyzeError : public std::runtime_error {
 public:
  enum class Kind {
    NoDirectory,     // a directory given does not exist
    NoMeasurements,  // no measurement files in it
    AllUnusable,     // there are some, and every one is damaged
  };
  AnalyzeError(Kind kind, const std::string& line) : std::runtime_error(line), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

// A site that the runtime placed for what it found, and in which context of the database that is.
struct PlacedSite {
  uint32_t context = 0;
  SiteRepair repair;
};

struct Analysis {
  Database database;
  std::vector<std::string> warnings;  // one line each: damaged files, changed modules
  // What repair.json is made of (repairs.h).
  std::vector<ContendedRecord> contention;
  std::vector<PlacedSite> placed;
};

// Analyzes all *.prof files of the directories (not of their subdirectories) as one run. The traces of the
// result, and values that were left, read the measurement files when they are called; traces start over after
// their end; each record names the context that the time from it to the next record is charged to. Of a team
// the first process has all of it, the others what write_database() wants of them. Throws AnalyzeError.
Analysis analyze(const std::vector<std::filesystem::path>& directories, const AnalyzeOptions& options = {});

}  // namespace prof

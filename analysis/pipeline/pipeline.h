#pragma once
// Converts measurement directories to a database in memory: reads the measurement files, attributes their
// addresses to source, merges the calling context trees of all threads into one, and computes metrics and
// statistics.
//
// Shape of the tree: Entry ("main thread", "application thread") -> Function (Call) -> Line (Enclosing) ->
// Function (Call or InlinedCall) -> ... A Line is the call site of its children, the sampled line, or both.
// If no line is known, calls and values belong to the Function itself. A context's point value was sampled
// exactly there. Its exclusive value is the same for a Line; for a Function it is the sum over its lines. Its
// inclusive value adds all descendants.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/database/model.h"
#include "analysis/database/progress.h"
#include "analysis/repair/repair_file.h"
#include "analysis/run/contended_record.h"
#include "analysis/workers/workers.h"

namespace prof {

struct AnalyzeOptions {
  // Folds recursion: a function that is already on its own call path continues at that occurrence. So
  // a -> b -> a -> c becomes a -> b and a -> c. Applies to direct and indirect recursion, inlined or not.
  bool merge_recursion = false;
  bool copy_sources = true;       // into the database, by run_analyze()
  int jobs = 1;                   // threads to use; does not affect the result
  size_t kept_bytes = 512 << 20;  // of measurements, kept between the steps that read them
  bool leaves_values = false;     // values stay in the measurements, and Database::values computes them
  AttributionOptions attribution;
  Progress progress;
  AnalysisWorkers* workers = &AnalysisWorkers::alone();  // this process does a share of its work
};

// what() is one line: what is wrong, where, and how to fix it.
class AnalyzeError : public std::runtime_error {
 public:
  enum class Kind {
    NoDirectory,     // a directory given does not exist
    NoMeasurements,  // it has no measurement files
    AllUnusable,     // all measurement files are damaged
  };
  AnalyzeError(Kind kind, const std::string& line) : std::runtime_error(line), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

// A site that the runtime repaired because of what it found, and its context in the database.
struct PlacedSite {
  uint32_t context = 0;
  SiteRepair repair;
};

struct Analysis {
  Database database;
  std::vector<std::string> warnings;  // one line each: damaged files, changed modules
  // The source of repair.json (repairs.h).
  std::vector<ContendedRecord> contention;
  std::vector<PlacedSite> placed;
};

// Analyzes all *.prof files of the directories (not of their subdirectories) as one run. The result reads the
// measurement files again for traces, and for values with leaves_values. A trace starts over after its end;
// the time from one record to the next is charged to the context of the first. Of several workers, the first
// gets the whole result, the others what write_database() needs from them. Throws AnalyzeError.
Analysis analyze(const std::vector<std::filesystem::path>& directories, const AnalyzeOptions& options = {});

}  // namespace prof

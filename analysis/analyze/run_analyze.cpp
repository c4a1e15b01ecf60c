#include "analysis/analyze/run_analyze.h"

#include "analysis/analyze/repair_proposals.h"
#include "analysis/database/database.h"
#include "analysis/findings/findings_file.h"
#include "analysis/pipeline/sources.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

// Writes repair.json next to the measurements, or into a database that is elsewhere. Without repairs, an
// existing file is updated but no new one is made.
void write_repairs(const Analysis& analysis, const fs::path& directory, std::vector<std::string>& warnings) {
  const fs::path path = directory / kRepairFile;
  std::error_code missing;
  try {
    const bool is_there = fs::exists(path, missing);
    const RepairFile known = is_there ? read_repair_file(path) : RepairFile{};
    const RepairFile all =
        merged(known, proposed_repairs(analysis.database, analysis.contention, analysis.placed));
    if (is_there || !all.is_empty() || !all.declined.empty()) write_repair_file(all, path);
  } catch (const RepairFileError& error) {
    warnings.emplace_back(error.what());
  }
}

}  // namespace

AnalyzeResult run_analyze(const std::vector<std::filesystem::path>& directories,
                          const std::filesystem::path& output, AnalyzeOptions options) {
  if (directories.empty()) {
    throw AnalyzeError(AnalyzeError::Kind::NoDirectory, "the measurement directory is missing");
  }
  options.leaves_values = true;
  options.attribution.saved_in = directories;
  Analysis analysis = analyze(directories, options);
  if (options.copy_sources) mark_sources(analysis.database.files);
  AnalyzeResult result{output.empty() ? directories.front() / "database" : output,
                       std::move(analysis.warnings)};
  const auto find = [&](const fs::path& folder, const std::vector<Summary>& summaries) {
    analysis.database.summaries = summaries;
    write_findings(analysis.database, folder, *options.workers, options.jobs);
  };
  analysis.database.summaries = write_database(analysis.database, result.database, options.jobs,
                                               *options.workers, find, options.progress);
  if (!options.workers->is_first()) return result;
  write_repairs(analysis, output.empty() ? directories.front() : result.database, result.warnings);
  return result;
}

}  // namespace prof

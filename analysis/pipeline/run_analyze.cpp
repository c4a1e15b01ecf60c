#include "analysis/pipeline/run_analyze.h"

#include "analysis/database/database.h"
#include "analysis/pipeline/sources.h"
#include "analysis/views/all_findings.h"

namespace prof {

AnalyzeResult run_analyze(const std::vector<std::filesystem::path>& directories,
                          const std::filesystem::path& output, const AnalyzeOptions& options) {
  if (directories.empty()) {
    throw AnalyzeError(AnalyzeError::Kind::NoDirectory, "no measurement directory given");
  }
  Analysis analysis = analyze(directories, options);
  if (options.copy_sources) mark_sources(analysis.database.files);
  AnalyzeResult result{output.empty() ? directories.front() / "database" : output,
                       std::move(analysis.warnings)};
  write_database(analysis.database, result.database);
  write_findings(analysis.database, result.database);
  return result;
}

}  // namespace prof

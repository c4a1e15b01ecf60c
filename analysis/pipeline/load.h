#pragma once
// Reads the measurement files of the directories given to the analysis, which are distinct.

#include "analysis/pipeline/pipeline.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Ordered by rank, then start, then file name, whatever order the file system lists them in. Damaged files
// are left out with a warning that names them. Throws AnalyzeError when nothing is left.
std::vector<ProcessMeasurement> load_measurements(const std::vector<std::filesystem::path>& directories,
                                                  const AnalyzeOptions& options,
                                                  std::vector<std::string>& warnings);

}  // namespace prof

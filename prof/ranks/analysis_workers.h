#pragma once
// `prof analyze` as one of many processes that a launcher started: `mpirun -n 4 prof analyze DIR`
// (docs/cluster.md).

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/workers/workers.h"

namespace prof {

struct WorkersRequest {
  std::vector<std::filesystem::path> directories;
  std::filesystem::path output;  // empty: in the first directory
  std::string options;           // options that affect the result, as any text
  bool resume = false;
};

// Joins the workers of this process's job. Returns nullptr if the process is alone and will not be resumed.
// From then on every printed line names the process, and all but the first process print errors only. Throws
// CommandError (125), WorkersError.
std::unique_ptr<AnalysisWorkers> join_workers(const WorkersRequest& request);

}  // namespace prof

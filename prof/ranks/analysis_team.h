#pragma once
// `prof analyze` as one of many processes that a launcher started: `mpirun -n 4 prof analyze DIR`
// (docs/cluster.md).

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/team/team.h"

namespace prof {

struct TeamRequest {
  std::vector<std::filesystem::path> directories;
  std::filesystem::path output;  // empty: in the first directory
  std::string options;           // that the result depends on, as any text
  bool resume = false;
};

// The team of this process: nullptr where it is alone and will not be resumed. From here on every line that
// is said names the process, and all but the first say nothing but errors. Throws CommandError (125),
// TeamError.
std::unique_ptr<Team> join_team(const TeamRequest& request);

}  // namespace prof

#pragma once
// The directory in which `prof run` leaves its measurements, and its contents before the program begins.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/repair/repair_file.h"
#include "prof/ranks/clock_exchange.h"
#include "prof/ranks/node_clock.h"
#include "prof/ranks/rank_part.h"

namespace prof {

struct DirectoryRequest {
  std::string asked;  // the value of -o
  std::string program;
  bool force = false;
  bool aggregates = false;  // processes measure elsewhere (node_directory.h)
  bool is_paused = false;
  std::string repair_plan;  // as the runtime reads it; empty: no changes from the start
  RepairFile given;         // repairs of an earlier run
};

struct RunDirectory {
  std::filesystem::path path;
  uint64_t token = 0;                  // of the launch, if it aggregates
  std::unique_ptr<ClockServer> clock;  // for nodes of other ranks; nullptr: another rank has it
};

// Creates one for all ranks that share it, or waits until another rank has done so. Throws CommandError (125)
// or DatabaseError.
RunDirectory open_directory(const DirectoryRequest& request, const std::optional<RankPart>& rank);

// Creates the files that measured processes expect.
void prepare_for_processes(const DirectoryRequest& request, const std::filesystem::path& directory);

// Returns the files that a rank leaves next to its measurements.
std::vector<std::filesystem::path> records_of_rank(const std::filesystem::path& directory,
                                                   const std::optional<RankPart>& rank,
                                                   const std::optional<NodeClock>& clock);

}  // namespace prof

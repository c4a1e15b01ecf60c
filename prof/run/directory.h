#pragma once
// The directory in which `prof run` leaves what it measures, and what lies in it before the program begins.

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
  std::string asked;  // as -o has it
  std::string program;
  bool force = false;
  bool aggregates = false;  // processes measure elsewhere (node_directory.h)
  bool is_paused = false;
  std::string repair_plan;  // as the runtime reads it; empty: nothing is changed from the start
  RepairFile given;         // repairs of an earlier run
};

struct RunDirectory {
  std::filesystem::path path;
  uint64_t token = 0;                  // of the launch, where it aggregates
  std::unique_ptr<ClockServer> clock;  // which nodes of other ranks may ask; nullptr: another rank has it
};

// Makes one for all ranks that share it, or waits until another rank has. Throws CommandError (125) or
// DatabaseError.
RunDirectory open_directory(const DirectoryRequest& request, const std::optional<RankPart>& rank);

// What processes that are measured there look for.
void prepare_for_processes(const DirectoryRequest& request, const std::filesystem::path& directory);

// What a rank leaves beside its measurements.
std::vector<std::filesystem::path> records_of_rank(const std::filesystem::path& directory,
                                                   const std::optional<RankPart>& rank,
                                                   const std::optional<NodeClock>& clock);

}  // namespace prof

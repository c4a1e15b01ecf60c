#pragma once
// Runs the program of a plan and leaves its measurements in the directory.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "prof/launch/launch.h"
#include "prof/ranks/rank_part.h"
#include "prof/run/directory.h"
#include "prof/run/plan.h"

namespace prof {

struct MeasuredRun {
  RunDirectory directory;       // answers clock comparisons of other nodes as long as it lives
  std::filesystem::path place;  // where processes measured: the directory, or one on this node
  bool is_collected = true;     // measurements made elsewhere are in the directory
  std::string start;            // ISO 8601
  Outcome outcome;
};

// Makes the directory or waits for the rank that does, and runs the program in it. Becomes the program
// instead if this rank is not measured. Throws CommandError or DatabaseError.
MeasuredRun execute(const RunPlan& plan, const std::optional<RankPart>& rank);

// Becomes the program, as if there were no `prof`. Throws CommandError if it cannot be executed.
[[noreturn]] void run_bare(const std::vector<std::string>& command);

}  // namespace prof

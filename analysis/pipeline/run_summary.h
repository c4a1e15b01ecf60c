#pragma once
// What was run and how well it was measured (docs/json.md: "run", "sampling", "stacks", "overhead",
// "degradations").

#include <filesystem>
#include <string>
#include <vector>

#include "hpcrun/measurement/reader.h"

namespace prof {

// The JSON text for Database::run_json. What the launcher left in DIR/run.json comes first, the rest is
// derived from the measurements (not empty).
std::string run_json(const std::vector<ProcessMeasurement>& measurements,
                     const std::vector<std::filesystem::path>& directories,
                     const std::vector<std::string>& warnings);

// The file name of the first process's executable.
std::string program_name(const std::vector<ProcessMeasurement>& measurements);

}  // namespace prof

#pragma once
// What was run and how well it was measured (docs/json.md: "run", "sampling", "stacks", "overhead",
// "degradations", "devices").

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/pipeline/run_record.h"
#include "analysis/run/contended_record.h"
#include "analysis/run/device_use.h"
#include "analysis/run/lock_record.h"
#include "analysis/run/repair_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// The JSON text for Database::run_json. What the launcher recorded in each directory comes first, the rest is
// derived from the measurements. Neither is empty. `contention`, `locks`: nullptr where nobody looked.
std::string run_json(const std::vector<ProcessMeasurement>& measurements,
                     const std::vector<RunRecord>& records, const std::vector<DeviceUse>& devices,
                     const std::vector<ContendedRecord>* contention, const LocksRecord* locks,
                     const RepairsRecord& repairs, const std::vector<std::string>& warnings);

// What run.json has under "contention".
nlohmann::json describe_contention(const std::vector<ContendedRecord>& records);

// The program that was started, without its folders; else the file name of the first process's executable.
std::string program_name(const std::vector<ProcessMeasurement>& measurements,
                         const std::vector<RunRecord>& records);

}  // namespace prof

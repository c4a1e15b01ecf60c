#pragma once
// What was run and how well it was measured, from the measurements and what launchers recorded.

#include <optional>
#include <string>
#include <vector>

#include "analysis/pipeline/run_record.h"
#include "analysis/run/run_summary.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// What was found in the measurements of a run. `contention`, `locks`: nothing where nobody looked.
struct RecordsOfRun {
  std::vector<DeviceUse> devices;
  std::optional<std::vector<ContendedRecord>> contention;
  std::optional<LocksRecord> locks;
  RepairsRecord repairs;
};

// What the launcher recorded in each directory comes first, the rest is derived from the measurements.
// Neither is empty. Its texts are UTF-8.
RunSummary summary_of(const std::vector<ProcessMeasurement>& measurements,
                      const std::vector<RunRecord>& records, RecordsOfRun found,
                      const std::vector<std::string>& warnings);

// Command lines, paths and names need not be UTF-8; what is wrong becomes U+FFFD.
void make_valid_utf8(RunSummary& run);

// The program that was started, without its folders; else the file name of the first process's executable.
std::string program_name(const std::vector<ProcessMeasurement>& measurements,
                         const std::vector<RunRecord>& records);

}  // namespace prof

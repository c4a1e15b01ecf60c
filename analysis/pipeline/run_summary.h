#pragma once
// Summarizes what was run and how well it was measured, from the measurements and the launchers' records.

#include <optional>
#include <string>
#include <vector>

#include "analysis/pipeline/run_record.h"
#include "analysis/run/run_summary.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// The findings in the measurements of a run. Unset members were not measured.
struct RecordsOfRun {
  std::vector<DeviceUse> devices;
  std::optional<std::vector<ContendedRecord>> contention;
  std::optional<LocksRecord> locks;
  std::optional<MemoryWasteRecord> memory_waste;
  RepairsRecord repairs;
};

// Prefers what the launcher recorded in each directory; derives the rest from the measurements. Neither may
// be empty. Texts in the result are UTF-8.
RunSummary summary_of(const std::vector<ProcessMeasurement>& measurements,
                      const std::vector<RunRecord>& records, RecordsOfRun found,
                      const std::vector<std::string>& warnings);

// Command lines, paths and names need not be UTF-8; invalid bytes become U+FFFD.
void make_valid_utf8(RunSummary& run);

// Returns the program that was started, without its folders; if unknown, the file name of the first process's
// executable.
std::string program_name(const std::vector<ProcessMeasurement>& measurements,
                         const std::vector<RunRecord>& records);

}  // namespace prof

#pragma once
// Finds contention between threads of one process: combines the accesses that the runtime recorded with the
// variables and allocations that they lie in.

#include <span>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/contention/contended_data.h"
#include "analysis/pipeline/process_variables.h"
#include "analysis/run/contended_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// A thread of the process, as the database has it.
struct ThreadInDatabase {
  const MeasuredThread* thread = nullptr;
  uint32_t profile = 0;
  std::span<const uint32_t> context_of;  // the context of each node
};

// Memory outside of variables and allocations, named by its mapping: "[heap]", "/dev/shm/queue".
struct MemoryRegion {
  uint64_t start = 0, last = 0;  // addresses of its first and last byte
  std::string name;
};

// Describes the data of one process.
struct ProcessData {
  std::string host;
  int32_t rank = -1;
  int32_t process = -1;  // pid
  std::vector<ModuleInMemory> modules;
  std::vector<MemoryRegion> regions;
};

// True if contention was measured in any of the processes.
bool looked_for_contention(const std::vector<ProcessMeasurement>& measurements);

// True if accesses were recorded or writes were counted.
bool has_accesses(const ProcessMeasurement& measurement);

// The limits for findings from hardware that samples cache-to-cache transfers: a minimum number of samples,
// and a minimum rate at which they cost something. Samples of a line are few and need not overlap within a
// millisecond.
extern const ContentionOptions kHardwareFinding;

// Fills in the rate of transfers over `seconds` (0: unknown) and its source. Returns false if there are too
// few transfers for a finding.
bool note_transfers(ContendedRecord& record, double seconds, EvidenceSource source);

// Returns findings, the most expensive first. Adds one warning, of one line, for each module that cannot be
// read.
std::vector<ContendedRecord> contended_records(const ProcessMeasurement& measurement,
                                               std::span<const ThreadInDatabase> threads,
                                               const AttributionOptions& options,
                                               std::vector<std::string>& warnings);

// The same for accesses whose data are known: each lies in a variable or in nothing known. Fills in
// ContentionAccess::object.
std::vector<ContendedRecord> contended_records(const ProcessData& process,
                                               std::vector<ContentionAccess> accesses,
                                               const ContentionOptions& finding,
                                               const AttributionOptions& options,
                                               std::vector<std::string>& warnings);

}  // namespace prof

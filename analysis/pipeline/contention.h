#pragma once
// What threads of one process contended for: the accesses that the runtime saw, put together with the
// variables and allocations that they lie in.

#include <span>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/contention/contended_data.h"
#include "analysis/pipeline/process_variables.h"
#include "analysis/run/contended_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// A thread of the process in the database.
struct ThreadInDatabase {
  const MeasuredThread* thread = nullptr;
  uint32_t profile = 0;
  std::span<const uint32_t> context_of;  // each node's
};

// Memory that is no variable's, by what it was made for: "[heap]", "/dev/shm/queue".
struct MemoryRegion {
  uint64_t start = 0, last = 0;  // addresses of its first and last byte
  std::string name;
};

// What is known of the data of one process.
struct ProcessData {
  std::string host;
  int32_t rank = -1;
  int32_t process = -1;  // pid
  std::vector<ModuleInMemory> modules;
  std::vector<MemoryRegion> regions;
};

// In any of them.
bool looked_for_contention(const std::vector<ProcessMeasurement>& measurements);

// Accesses were seen, or writes were counted.
bool has_accesses(const ProcessMeasurement& measurement);

// What is known by hardware that samples transfers between caches: a finding has a few of them at least, and
// as many a second as cost something. Its samples of a line are few and need not overlap to the millisecond.
extern const ContentionOptions kHardwareFinding;

// Fills in the rate of transfers, over so many seconds (0: not known), and who told it. False: too few to
// tell.
bool note_transfers(ContendedRecord& record, double seconds, EvidenceSource source);

// The dearest first. What could not be read of modules is a warning, one line each.
std::vector<ContendedRecord> contended_records(const ProcessMeasurement& measurement,
                                               std::span<const ThreadInDatabase> threads,
                                               const AttributionOptions& options,
                                               std::vector<std::string>& warnings);

// The same of accesses that are known already, of which each lies in a variable or in nothing known:
// ContentionAccess::object is found here.
std::vector<ContendedRecord> contended_records(const ProcessData& process,
                                               std::vector<ContentionAccess> accesses,
                                               const ContentionOptions& finding,
                                               const AttributionOptions& options,
                                               std::vector<std::string>& warnings);

}  // namespace prof

#pragma once
// Repairs of a run: what heap layout repair could change, for repair.json, and what was changed.

#include <span>
#include <vector>

#include "analysis/contention/contended_data.h"
#include "analysis/pipeline/contention.h"
#include "analysis/pipeline/known_data.h"
#include "analysis/pipeline/pipeline.h"
#include "analysis/repair/repair_file.h"
#include "analysis/run/contended_record.h"
#include "analysis/run/repair_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// The calling contexts of one process as its runtime identifies them.
class MeasuredContexts {
 public:
  // `measurement` must outlive the object.
  explicit MeasuredContexts(const ProcessMeasurement& measurement) : measurement_(measurement) {}

  // Returns the frames of a node of the thread with this index, the innermost first, as far as they lie in
  // files and fit into a repair plan. Empty if the node is lost or lies in generated code.
  std::vector<ModuleAddress> frames(uint32_t thread, uint32_t node) const;

 private:
  const ProcessMeasurement& measurement_;
};

// Adds to the record where its data were allocated and how they could be placed.
void add_placeable(const ContendedData& found, const KnownData& data, const MeasuredContexts& contexts,
                   ContendedRecord& record);

// A lock that was moved to a cache line of its own.
struct MovedLock {
  uint64_t address = 0;  // its address in the program
  double since_s = 0;    // since the start of the run
};

// Collects what the runtime changed or declined to change in all processes. `threads`: those of the process.
class RunRepairs {
 public:
  void add(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads);

  // Returns the record, with sites sorted by the time of their repair.
  RepairsRecord take();

  // Must be called after take().
  const std::vector<PlacedSite>& placed() const { return placed_; }

  // Sorted by time within each process.
  const std::vector<MovedLock>& moved_locks() const { return moved_locks_; }

 private:
  RepairsRecord record_;
  std::vector<PlacedSite> placed_;
  std::vector<MovedLock> moved_locks_;
};

// Records for each finding what was or could be done about it (ContendedRecord::repair), and names the data
// in isolated pages.
void describe_repairs(RepairsRecord& repairs, std::span<const MovedLock> locks,
                      std::vector<ContendedRecord>& contention);

}  // namespace prof

#pragma once
// Repairs of a run: what could be laid out anew in the running program, for repair.json, and what was.

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

// The calling contexts of one process as its runtime knows them.
class MeasuredContexts {
 public:
  // `measurement` must outlive the object.
  explicit MeasuredContexts(const ProcessMeasurement& measurement) : measurement_(measurement) {}

  // Of a node of the thread with this index, the innermost first, as far as they lie in files and a repair
  // plan has room. Empty where the node is lost or lies in generated code.
  std::vector<ModuleAddress> frames(uint32_t thread, uint32_t node) const;

 private:
  const ProcessMeasurement& measurement_;
};

// Tells the record where its data were allocated and how they could be placed.
void add_placeable(const ContendedData& found, const KnownData& data, const MeasuredContexts& contexts,
                   ContendedRecord& record);

// A lock that got a line of its own.
struct MovedLock {
  uint64_t address = 0;  // where the program has it
  double since_s = 0;    // of the run
};

// What the runtime changed, or declined to, in all processes. `threads`: of one process each.
class RunRepairs {
 public:
  void add(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads);

  // Sites by the time since when they are placed.
  RepairsRecord take();

  // After take().
  const std::vector<PlacedSite>& placed() const { return placed_; }

  // By time, in each process.
  const std::vector<MovedLock>& moved_locks() const { return moved_locks_; }

 private:
  RepairsRecord record_;
  std::vector<PlacedSite> placed_;
  std::vector<MovedLock> moved_locks_;
};

// Says of each finding what became of it in the run, or could (ContendedRecord::repair), and gives pages the
// names of what lies there.
void tell_repairs(RepairsRecord& repairs, std::span<const MovedLock> locks,
                  std::vector<ContendedRecord>& contention);

}  // namespace prof

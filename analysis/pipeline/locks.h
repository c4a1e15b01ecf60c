#pragma once
// Locks that threads waited for, and who held them: what the runtime noted in the calling contexts of
// threads, as metrics and by lock.

#include <span>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/pipeline/contention.h"
#include "analysis/run/lock_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Adds LOCK_WAIT, LOCK_BLAME, BLOCKED and IDLE_BLAME to the cells of the threads that they belong to.
void charge_locks(ProcessMeasurement& measurement);

// In any of them.
bool followed_locks(const std::vector<ProcessMeasurement>& measurements);

bool has_lock_waits(const ProcessMeasurement& measurement);

// "queue_lock", or of a structure the part that is the lock, and "queue.cpp:12"; empty where that is not
// known.
struct LockName {
  std::string name, declared;
  bool is_section = false;  // a critical section of OpenMP
};
LockName name_of_lock(uint64_t address, ProcessVariables& variables);

WaitedFor kind_of_lock(hpcrun::LockKind kind, const LockName& name);

// Those of one process. What could not be read of modules is a warning, one line each.
void add_locks(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads,
               const AttributionOptions& options, LocksRecord& locks, std::vector<std::string>& warnings);

// What was waited for longest comes first; less is left out where there is much.
void sort_locks(LocksRecord& locks);

}  // namespace prof

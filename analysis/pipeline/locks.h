#pragma once
// Locks that threads waited for, and the threads that held them. Converts what the runtime recorded in
// calling contexts to metrics and to a list by lock.

#include <span>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/pipeline/contention.h"
#include "analysis/run/lock_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Adds LOCK_WAIT, LOCK_BLAME, BLOCKED and IDLE_BLAME to the cells of the threads concerned.
void charge_locks(ProcessMeasurement& measurement);

// True if locks were followed in any of the processes.
bool followed_locks(const std::vector<ProcessMeasurement>& measurements);

bool has_lock_waits(const ProcessMeasurement& measurement);

// The name of a lock, such as "queue_lock" (for a structure, the member that is the lock), and its
// declaration, such as "queue.cpp:12". Empty if unknown.
struct LockName {
  std::string name, declared;
  bool is_section = false;  // an OpenMP critical section
};
LockName name_of_lock(uint64_t address, ProcessVariables& variables);

WaitedFor kind_of_lock(hpcrun::LockKind kind, const LockName& name);

// Adds the locks of one process. Adds one warning, of one line, for each module that cannot be read.
void add_locks(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads,
               const AttributionOptions& options, LocksRecord& locks, std::vector<std::string>& warnings);

// Sorts by waiting time, longest first. Cuts long lists.
void sort_locks(LocksRecord& locks);

}  // namespace prof

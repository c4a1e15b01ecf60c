#pragma once
// Waits for locks that had not ended when the process did: which thread waited for which lock, which held it,
// and whether they waited for each other.

#include <span>
#include <vector>

#include "analysis/pipeline/contention.h"
#include "analysis/pipeline/process_variables.h"
#include "analysis/run/lock_record.h"

namespace prof {

// Adds the waits of one process, deadlocked ones first. Deadlocks are numbered from the highest number in
// `waits` on.
void add_open_waits(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads,
                    ProcessVariables& variables, std::vector<OpenWaitRecord>& waits);

}  // namespace prof

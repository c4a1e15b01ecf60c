#pragma once
// Waits for locks that had not ended when the process did: who waited for what, who had it, and whether they
// waited for each other.

#include <span>
#include <vector>

#include "analysis/pipeline/contention.h"
#include "analysis/pipeline/process_variables.h"
#include "analysis/run/lock_record.h"

namespace prof {

// Those of one process, those that wait for each other first. Deadlocks have numbers on from those that are
// there already.
void add_open_waits(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads,
                    ProcessVariables& variables, std::vector<OpenWaitRecord>& waits);

}  // namespace prof

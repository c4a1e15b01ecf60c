#pragma once
// Waits that the end of a process cut short: no sample was taken after them.

#include "analysis/pipeline/run_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Adds to the cells of each thread, as samples, what passed in such waits: up to the end of the process, or
// of what is known of it, which is then noted in the process. The record is that of the run which the
// measurement belongs to. Waits for other threads (LockRole::Open) become waits that are open.
void charge_waits(ProcessMeasurement& measurement, const RunRecord& record);

}  // namespace prof

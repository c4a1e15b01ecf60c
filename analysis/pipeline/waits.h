#pragma once
// Charges waits that the end of a process cut short: no sample was taken after them.

#include "analysis/pipeline/run_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Adds the time of such waits to the cells of each thread, as samples. They last until the end of the
// process, or until the last time known of it, which is then stored in the process. `record` is that of the
// run that the measurement belongs to. Waits for other threads (LockRole::Open) become open waits.
void charge_waits(ProcessMeasurement& measurement, const RunRecord& record);

}  // namespace prof

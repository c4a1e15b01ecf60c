#pragma once
// Builds a database for a part of the run's time from the traces: the time that each thread spent in each
// context.

#include "analysis/database/model.h"
#include "viewer/trace/time_range.h"
#include "viewer/trace/trace_index.h"

namespace prof::viewer {

// In seconds, for threads and for queues of devices.
constexpr const char* kTracedTime = "TRACED_TIME";
constexpr const char* kTracedDeviceTime = "TRACED_DEVICE_TIME";

// Returns a database with the contexts, functions, files, modules and profiles of `whole`, to whose traces
// the index belongs. Its only values are the times within the range, exact to the nanosecond. It has the
// metric for queues if the database has queues. It has no summaries, no traces and no run. Uses up to four
// threads.
Database timed_database(const Database& whole, const TraceIndex& index, TimeRange range);

}  // namespace prof::viewer

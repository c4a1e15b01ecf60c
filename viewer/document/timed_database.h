#pragma once
// A database that says of a part of the run's time what traces know of it: who spent how long in which
// context.

#include "analysis/database/model.h"
#include "viewer/trace/time_range.h"
#include "viewer/trace/trace_index.h"

namespace prof::viewer {

// In seconds, of threads and of the queues of devices.
constexpr const char* kTracedTime = "TRACED_TIME";
constexpr const char* kTracedDeviceTime = "TRACED_DEVICE_TIME";

// With the contexts, functions, files, modules and profiles of `whole`, whose traces the index is of, and
// the time in the range of all of them as its only values: exact to the nanosecond. The metric of queues is
// there where the database has any. No summaries, no traces and no run. Takes as many threads as the machine
// has, at most four.
Database timed_database(const Database& whole, const TraceIndex& index, TimeRange range);

}  // namespace prof::viewer

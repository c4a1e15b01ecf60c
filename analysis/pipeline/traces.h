#pragma once
// Converts a thread's trace for the database.

#include <vector>

#include "analysis/database/model.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Streams from the measurement file, which stays mapped. A sample describes what ran since the previous
// record, as its metric value is charged; a record of the result describes what runs from its time on.
// Therefore each record carries the context of the sample that ends its interval, and the last one says that
// nothing ran any more. context_of: the context of each node.
TraceSource trace_source(const MeasuredThread& thread, std::vector<uint32_t> context_of,
                         const MeasuredProcess& process);

// The same for threads and device queues.
TraceSource trace_of_track(const MeasuredThread& track, std::vector<uint32_t> context_of,
                           const MeasuredProcess& process);

// Returns the number of records that the database's trace of the track will have. Reads it to its end.
uint64_t trace_records(const MeasuredThread& track, const MeasuredProcess& process);

}  // namespace prof

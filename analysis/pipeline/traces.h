#pragma once
// A thread's trace in terms of the database.

#include <vector>

#include "analysis/database/model.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Streams from the measurement file, which stays mapped. A sample tells what ran since the record before it,
// the way its metric value was charged; the records that come out say what runs from their time on. So each
// carries the context of the sample that ends its interval, and the last one says that nothing more ran.
// context_of: of each node.
TraceSource trace_source(const MeasuredThread& thread, std::vector<uint32_t> context_of,
                         const MeasuredProcess& process);

// The same of a device queue as well.
TraceSource trace_of_line(const MeasuredThread& line, std::vector<uint32_t> context_of,
                          const MeasuredProcess& process);

// How many records the database's trace of it will have; reads it to its end.
uint64_t trace_records(const MeasuredThread& line, const MeasuredProcess& process);

}  // namespace prof

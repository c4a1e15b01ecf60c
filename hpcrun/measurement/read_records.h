#pragma once
// Reads process records: modules, metrics, notes, and the threads' names and times.

#include <map>
#include <vector>

#include "hpcrun/measurement/read_extents.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Adds to out.metrics, out.modules (both sorted by id) and out.notes, and creates the threads that records
// name.
void read_records(const std::vector<Extent>& extents, const Layout& layout, ProcessMeasurement& out,
                  std::map<uint32_t, MeasuredThread>& threads);

}  // namespace prof

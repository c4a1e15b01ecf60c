#pragma once
// Reads the threads' own streams: calling contexts, metric values, and the location of the trace.

#include <map>
#include <vector>

#include "hpcrun/measurement/read_extents.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Adds to the threads that process records named, and creates threads that have extents only. `file_bytes`
// limits the number of lost contexts that is accepted.
void read_threads(const std::vector<Extent>& extents, const Layout& layout, uint64_t file_bytes,
                  std::map<uint32_t, MeasuredThread>& threads, Warnings& warnings);

}  // namespace prof

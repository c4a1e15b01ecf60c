#pragma once
// The threads' own streams: calling contexts, metric values, and where the trace lies.

#include <map>
#include <vector>

#include "hpcrun/measurement/read_extents.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Adds to the threads that process records named, and makes those that only their extents tell of.
// `file_bytes` bounds how many lost contexts are believed.
void read_threads(const std::vector<Extent>& extents, const Layout& layout, uint64_t file_bytes,
                  std::map<uint32_t, MeasuredThread>& threads, Warnings& warnings);

}  // namespace prof

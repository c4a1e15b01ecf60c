#pragma once
// Finds the files in which JIT compilers store the names of their code, and checks whether to accept them.
// Process IDs are reused, and anyone may put a file of that name into /tmp.

#include <filesystem>

#include "analysis/attribution/attribution.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Returns where a compiler in the process writes its map: /tmp/perf-PID.map.
PerfMap left_perf_map(const ProcessMeasurement& measurement);

// Returns where `prof run` keeps a copy of it: HOST-PID.map next to the measurement.
std::filesystem::path kept_perf_map_path(const ProcessMeasurement& measurement);

// Returns the copy if there is one. Otherwise returns what the process left, which is only valid on its own
// host.
PerfMap perf_map_of(const ProcessMeasurement& measurement, const std::string& this_host);

// Copies a map that is accepted. Returns false if there is none, it is rejected, or it cannot be written.
bool copy_perf_map(const PerfMap& map, const std::filesystem::path& to);

}  // namespace prof

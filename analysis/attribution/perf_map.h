#pragma once
// The files in which just-in-time compilers tell the names of their code: where they are, and whose are
// believed. Process numbers are used again, and in /tmp anyone may put a file of that name.

#include <filesystem>

#include "analysis/attribution/attribution.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Where a compiler in the process writes its map: /tmp/perf-PID.map.
PerfMap left_perf_map(const ProcessMeasurement& measurement);

// Where `prof run` keeps a copy of it: HOST-PID.map beside the measurement.
std::filesystem::path kept_perf_map_path(const ProcessMeasurement& measurement);

// The copy where there is one, else what the process left, which means nothing on another host than its own.
PerfMap perf_map_of(const ProcessMeasurement& measurement, const std::string& this_host);

// Copies a map that is believed; false where there is none, it is not, or it could not be written.
bool copy_perf_map(const PerfMap& map, const std::filesystem::path& to);

}  // namespace prof

#include "prof/launch/perf_maps.h"

#include "analysis/attribution/perf_map.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// Checked first, so that measurements are not read if no process generated code.
bool any_perf_map() {
  std::error_code error;
  for (fs::directory_iterator at("/tmp", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("perf-") && name.ends_with(".map")) return true;
  }
  return false;
}

}  // namespace

void keep_perf_maps(const fs::path& directory, const std::string& file_prefix) {
  if (!any_perf_map()) return;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != ".prof" || !at->path().filename().string().starts_with(file_prefix))
      continue;
    try {
      const ProcessMeasurement measurement = read_measurement_header(at->path());
      copy_perf_map(left_perf_map(measurement), kept_perf_map_path(measurement));
    } catch (const MeasurementError&) {  // the analysis reports it
    }
  }
}

}  // namespace prof

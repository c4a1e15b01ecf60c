#pragma once
// Computes how long a run took from what its processes recorded. All in seconds.

#include <optional>
#include <vector>

#include "hpcrun/measurement/reader.h"

namespace prof {

// Returns the time from the first start to the last end. For several directories, whose runs may be hours
// apart, counts only the time in which a process ran. Returns nullopt if no end is known.
std::optional<double> measured_seconds(const std::vector<ProcessMeasurement>& measurements, bool one_run);

// Returns the program's own part of that time, which is as long without prof except for its samples. It is
// the time in which a process was between the runtime's start and its end, and measuring was not paused.
// Loading the program comes before and does not count. Returns nullopt if no end is known.
std::optional<double> program_seconds(const std::vector<ProcessMeasurement>& measurements);
std::optional<double> program_seconds(const ProcessMeasurement& measurement);

double paused_seconds(const ProcessMeasurement& measurement);
// Returns the time of the process that was paused longest.
double longest_pause_seconds(const std::vector<ProcessMeasurement>& measurements);

}  // namespace prof

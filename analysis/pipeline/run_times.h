#pragma once
// How long a run took, by what its processes left. All in seconds.

#include <optional>
#include <vector>

#include "hpcrun/measurement/reader.h"

namespace prof {

// From the first start to the last end; of several directories, whose runs may be hours apart, only the time
// in which a process ran. Nothing where no end is known.
std::optional<double> measured_seconds(const std::vector<ProcessMeasurement>& measurements, bool one_run);

// The program's own part of it, which would be as long without prof but for its samples: in which a process
// was between the runtime's start and its end, and measuring was not paused. What loads a program, which
// comes before, is not in it. Nothing where no end is known.
std::optional<double> program_seconds(const std::vector<ProcessMeasurement>& measurements);
std::optional<double> program_seconds(const ProcessMeasurement& measurement);

double paused_seconds(const ProcessMeasurement& measurement);
// Of the process that was paused longest.
double longest_pause_seconds(const std::vector<ProcessMeasurement>& measurements);

}  // namespace prof

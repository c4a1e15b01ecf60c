#pragma once
// Converts devices, and the tracks that represent them and their queues in a measurement.

#include <functional>
#include <memory>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/run/device_use.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Returns the profile of a queue's track, without its values.
ProfileId queue_id(const ProcessMeasurement& measurement, const MeasuredThread& track);

// Returns the number of tasks that a queue's track has values for.
uint64_t completed_tasks(const MeasuredThread& track);

// Returns, for each node directly below a queue's root, whether the main thread launched from there. Stacks
// of the main thread and of other threads begin differently. If nothing is known, the main thread is assumed.
std::vector<bool> launched_by_main_thread(const ProcessMeasurement& measurement, const MeasuredThread& track);

// Returns the devices of a process, without their queues.
std::vector<DeviceUse> device_uses(const ProcessMeasurement& measurement);

struct OpenedTrack {
  std::shared_ptr<const ProcessMeasurement> measurement;
  const MeasuredThread* track = nullptr;
};

// A track of a measurement, and what it is in the database. open() reads it when its rows are read.
template <typename What>
struct MeasuredTrack {
  What what;
  std::function<OpenedTrack()> open;
};

struct QueueLaunches {
  uint32_t profile = 0;
  std::vector<uint32_t> task_of;            // an index into Database::task_names for each node
  std::vector<uint32_t> profile_of_thread;  // by index in the process; kNone if it has none
};
LaunchSource launch_source(std::vector<MeasuredTrack<QueueLaunches>> queues);

struct ThreadWaits {
  uint32_t profile = 0;
  std::vector<uint32_t> call_of;  // an index into Database::wait_names for each node
};
DeviceWaitSource wait_source(std::vector<MeasuredTrack<ThreadWaits>> threads);

// Returns a queue's trace for the database: its context at the start of a task, and kNone at its end. If
// tasks overlap, the earlier one continues until it ends; the later one begins then, or is left out if it
// ended before. Tasks of a sampled trace take the time that they represent. context_of: the context of each
// node.
TraceSource task_trace(const MeasuredThread& track, std::vector<uint32_t> context_of,
                       const MeasuredProcess& process);

}  // namespace prof

#pragma once
// Devices, and the lines that stand for them and their queues in a measurement.

#include <functional>
#include <memory>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/run/device_use.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Of a queue's line: everything but its values.
ProfileId queue_id(const ProcessMeasurement& measurement, const MeasuredThread& line);

// How many tasks a queue's line has values of.
uint64_t completed_tasks(const MeasuredThread& line);

// Of each node directly below a queue's root: whether the main thread launched from there. Stacks of the main
// thread begin elsewhere than those of other threads; where nothing is known it was the main thread.
std::vector<bool> launched_by_main_thread(const ProcessMeasurement& measurement, const MeasuredThread& line);

// The devices of a process, without their queues.
std::vector<DeviceUse> device_uses(const ProcessMeasurement& measurement);

struct OpenedLine {
  std::shared_ptr<const ProcessMeasurement> measurement;
  const MeasuredThread* line = nullptr;
};

// A line of a measurement, which is read when its rows are, and what it is in terms of the database.
template <typename What>
struct MeasuredLine {
  What what;
  std::function<OpenedLine()> open;
};

struct QueueLaunches {
  uint32_t profile = 0;
  std::vector<uint32_t> task_of;            // of each node an index into Database::task_names
  std::vector<uint32_t> profile_of_thread;  // by index in the process, kNone where it has none
};
LaunchSource launch_source(std::vector<MeasuredLine<QueueLaunches>> queues);

struct ThreadWaits {
  uint32_t profile = 0;
  std::vector<uint32_t> call_of;  // of each node an index into Database::wait_names
};
DeviceWaitSource wait_source(std::vector<MeasuredLine<ThreadWaits>> threads);

// A queue's trace in terms of the database: its context at a task's start, nothing at its end. Of tasks that
// overlap, one goes on until the next begins or, where it ended before, is left out; those of a sampled trace
// take the time that they stand for. context_of: of each node.
TraceSource task_trace(const MeasuredThread& line, std::vector<uint32_t> context_of,
                       const MeasuredProcess& process);

}  // namespace prof

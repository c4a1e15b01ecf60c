#pragma once
// Defines the metrics of accelerators, shared by the runtime, which writes them, and the analysis. Times are
// stored in nanoseconds. Values of enums are part of the format: append only.

#include <cstdint>

#include "hpcrun/measurement/described_metric.h"

namespace hpcrun {

// Ids of metrics. Metric records announce them once a device is used.
enum class DeviceMetric : uint16_t {
  CpuIdle = 16,
  CpuIdleCause = 17,
  GpuIdleCause = 18,
  GpuExecutionTime = 19,
  CopyTime = 20,
  Overlap = 21,
  LaunchLatency = 22,
  GpuGap = 23,
  WakeLatency = 24,
  BytesToDevice = 25,
  BytesFromDevice = 26,
  EventWait = 27,
  EventWaitCause = 28,
};

constexpr DescribedMetric<DeviceMetric> kDeviceMetrics[] = {
    {DeviceMetric::CpuIdle, "CPU_IDLE", "time that a thread waited for a device, at the waiting call; exact"},
    {DeviceMetric::CpuIdleCause, "CPU_IDLE_CAUSE",
     "time that threads waited for a device while this task was active, divided among the active tasks; "
     "exact"},
    {DeviceMetric::GpuIdleCause, "GPU_IDLE_CAUSE",
     "time that a device was idle while a thread was here; exact in device calls, sampled elsewhere"},
    {DeviceMetric::GpuExecutionTime, "GPU_EXECUTION_TIME",
     "time that kernels, copies and fills launched here were active on a device; exact"},
    {DeviceMetric::CopyTime, "COPY_TIME",
     "time that copies and fills launched here were active on a device; exact"},
    {DeviceMetric::Overlap, "OVERLAP",
     "time that tasks launched here were active while no thread of the process waited for the device; exact"},
    {DeviceMetric::LaunchLatency, "LAUNCH_LATENCY", "part of a wait before its first task started; exact"},
    {DeviceMetric::GpuGap, "GPU_GAP", "part of a wait between its tasks; exact"},
    {DeviceMetric::WakeLatency, "WAKE_LATENCY", "part of a wait after its last task ended; exact"},
    {DeviceMetric::BytesToDevice, "H_TO_D_BYTES", "bytes copied to a device; exact", "bytes", 1},
    {DeviceMetric::BytesFromDevice, "D_TO_H_BYTES", "bytes copied from a device; exact", "bytes", 1},
};

// Announced once a task has waited for a task of another queue.
constexpr DescribedMetric<DeviceMetric> kEventMetrics[] = {
    {DeviceMetric::EventWait, "EVENT_WAIT",
     "time that tasks launched here waited only for an event of another queue; exact"},
    {DeviceMetric::EventWaitCause, "EVENT_WAIT_CAUSE",
     "time that tasks of other queues waited only for the event of tasks launched here; exact"},
};

// A device's totals: cells at the root of its calling context tree. No metric record announces them.
enum class DeviceTotal : uint16_t {
  Busy = 40,        // ns in which a task of this process was active
  Kernels = 41,     // ns in which a kernel was active
  Copies = 42,      // ns in which a copy or fill was active
  Overlap = 43,     // ns in which a task was active and no thread of the process waited for the device
  CpuWaits = 44,    // ns in which a thread of the process waited for the device
  Window = 45,      // ns from its first use until now, without pauses, as in the times above
  Tasks = 46,       // samples: number of completed tasks
  Incomplete = 47,  // samples: number of tasks that were submitted and not observed to complete
  Occupied = 49,  // ns in which a task of this process was active, or another process had work for the device
  Paused = 50,    // ns since its first use in which measuring was paused
  // ns of CLOCK_MONOTONIC since which a task is in progress and nothing else is known; 0: none is.
  UnderWaySince = 51,
  // samples: number of completed tasks whose launch context was found without a walk
  KnownContexts = 48,
};

}  // namespace hpcrun

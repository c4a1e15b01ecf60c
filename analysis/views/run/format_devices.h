#pragma once
// Formats data on devices, for reports and the viewer.

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/views/run/run_summary.h"

namespace prof {

constexpr char kNoDevices[] =
    "No device was used in this run, or only through an API that prof does not trace.";
// Follows all blame; its last line ends without a line feed.
constexpr char kBlameCaveat[] =
    "\"of run at most\" is an upper bound of the saving if a cause is removed: another cause may take "
    "its\nplace. Blame is summed over threads and processes, and scaled to the time in which anything was "
    "idle.";

// Returns "device 0: NVIDIA H100, CUDA (driver 550), rank 3, process 4711 on node17".
std::string format_device(const RunSummary& run, const DeviceUse& use);

// Returns "of 8 s in use: CPU idle 50 %, device idle 37 %, overlap 25 %".
std::string format_device_shares(const DeviceUse& use);

struct DeviceTime {
  const char* name;
  double seconds;
  const char* meaning;  // may be empty
};
// All of these are parts of the time since the device's first use, DeviceUse::window_s. "others" appears only
// if there was any.
std::vector<DeviceTime> device_times(const DeviceUse& use);

// The number of processes that use this device through this API, including `device`'s.
size_t processes_that_share(const RunSummary& run, const DeviceUse& device);

}  // namespace prof

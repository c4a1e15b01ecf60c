#pragma once
// Reads a device's names. Not async-signal-safe.

#include "hpcrun/device/opencl/api.h"

namespace hpcrun::opencl {

struct DeviceNames {
  char name[192];
  // The driver's if it reports one (cl_khr_device_uuid), else the name and the position in its list.
  char uuid[128];
  char driver[128];
};

void read_device_names(cl_device_id device, DeviceNames& out) noexcept;

}  // namespace hpcrun::opencl

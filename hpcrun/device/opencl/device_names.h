#pragma once
// What a device is called. Not async-signal-safe.

#include "hpcrun/device/opencl/api.h"

namespace hpcrun::opencl {

struct DeviceNames {
  char name[192];
  char uuid[128];  // the driver's where it tells one (cl_khr_device_uuid), else the name and the place in its
                   // list
  char driver[128];
};

void read_device_names(cl_device_id device, DeviceNames& out) noexcept;

}  // namespace hpcrun::opencl

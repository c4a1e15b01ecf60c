#include "hpcrun/device/opencl/device_names.h"

#include <stdio.h>
#include <string.h>

namespace hpcrun::opencl {

namespace {

template <size_t N>
bool read_text(cl_device_id device, cl_device_info which, char (&out)[N]) noexcept {
  if (next.clGetDeviceInfo(device, which, N - 1, out, nullptr) != CL_SUCCESS) {
    out[0] = '\0';
    return false;
  }
  out[N - 1] = '\0';
  return true;
}

bool has_uuid(cl_device_id device) noexcept {
  static char extensions[16 * 1024];  // static, because a program's first calls may be on a small stack
  if (!read_text(device, CL_DEVICE_EXTENSIONS, extensions)) return false;
  return strstr(extensions, "cl_khr_device_uuid") != nullptr;
}

// Returns the device's position among those of its platform.
unsigned place_of(cl_device_id device) noexcept {
  constexpr cl_uint kMaxDevices = 64;
  cl_platform_id platform = nullptr;
  cl_device_id all[kMaxDevices];
  cl_uint count = 0;
  if (next.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, static_cast<void*>(&platform),
                           nullptr) != CL_SUCCESS ||
      next.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, kMaxDevices, all, &count) != CL_SUCCESS)
    return 0;
  for (cl_uint i = 0; i < count && i < kMaxDevices; ++i)
    if (all[i] == device) return i;
  return 0;
}

bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

void make_uuid_of_name(cl_device_id device, DeviceNames& out) noexcept {
  char* at = out.uuid;
  char* const end = out.uuid + sizeof out.uuid - 12;
  for (const char* from = out.name; *from && at < end; ++from)
    if (is_plain(*from))
      *at++ = *from;
    else if (at != out.uuid && at[-1] != '_')
      *at++ = '_';
  snprintf(at, 12, "-%u", place_of(device));
}

}  // namespace

void read_device_names(cl_device_id device, DeviceNames& out) noexcept {
  if (!read_text(device, CL_DEVICE_NAME, out.name)) snprintf(out.name, sizeof out.name, "OpenCL device");
  read_text(device, CL_DRIVER_VERSION, out.driver);
  unsigned char uuid[CL_UUID_SIZE_KHR];
  if (!has_uuid(device) ||
      next.clGetDeviceInfo(device, CL_DEVICE_UUID_KHR, sizeof uuid, uuid, nullptr) != CL_SUCCESS)
    return make_uuid_of_name(device, out);
  char* at = out.uuid;
  for (const unsigned char byte : uuid) at += snprintf(at, 3, "%02x", byte);
}

}  // namespace hpcrun::opencl

#pragma once
// Determines the variables that `prof run` adds to a program's environment so that the runtime traces it on
// accelerators.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "prof/base/notes.h"
#include "prof/launch/opencl_loader.h"

namespace prof {

// The ways in which this build and machine can trace accelerators, and the user's settings.
struct DeviceSurroundings {
  OpenClWay opencl = OpenClWay::None;
  std::string opencl_layers;   // OPENCL_LAYERS
  bool has_cuda = false;       // this build traces CUDA
  std::string cuda_mode;       // PROF_CUDA_MODE
  std::string cuda_injection;  // CUDA_INJECTION64_PATH
};

DeviceSurroundings device_surroundings();

struct DevicePlan {
  std::vector<std::filesystem::path> preload;  // after the runtime
  std::vector<std::pair<std::string, std::string>> environment;
};

// `runtime`, `opencl_preload`: paths from which the program loads libprof-runtime.so and libprof-opencl.so.
// The user's settings are kept, and a note names what is not traced because of them. Throws CommandError
// (125) for an unknown mode.
DevicePlan plan_devices(const DeviceSurroundings& surroundings, const std::filesystem::path& runtime,
                        const std::filesystem::path& opencl_preload, Notes& notes);

}  // namespace prof

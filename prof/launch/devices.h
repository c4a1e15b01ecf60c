#pragma once
// What `prof run` adds to a program's surroundings so that the runtime follows it on accelerators.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "prof/base/notes.h"
#include "prof/launch/opencl_loader.h"

namespace prof {

// How this build and machine can follow accelerators, and what the user set of it.
struct DeviceSurroundings {
  OpenClWay opencl = OpenClWay::None;
  std::string opencl_layers;   // OPENCL_LAYERS
  bool has_cuda = false;       // this build follows CUDA
  std::string cuda_mode;       // PROF_CUDA_MODE
  std::string cuda_injection;  // CUDA_INJECTION64_PATH
};

DeviceSurroundings device_surroundings();

struct DevicePlan {
  std::vector<std::filesystem::path> preload;  // after the runtime
  std::vector<std::pair<std::string, std::string>> environment;
};

// `runtime`, `opencl_preload`: where the program gets libhpcrun.so and libhpcrun-opencl.so from. What the
// user set is kept; what is not followed for it is noted. Throws CommandError (125) for a mode that is
// unknown.
DevicePlan plan_devices(const DeviceSurroundings& surroundings, const std::filesystem::path& runtime,
                        const std::filesystem::path& opencl_preload, Notes& notes);

}  // namespace prof

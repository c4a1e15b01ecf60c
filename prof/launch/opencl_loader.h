#pragma once
// How the runtime can follow OpenCL programs on a machine.

#include <filesystem>

#include "prof/base/machine_files.h"

namespace prof {

enum class OpenClWay {
  Layer,    // the loader takes layers (OPENCL_LAYERS); or there is none, and nothing to lose
  Preload,  // it does not: a library of ours stands in front of it
  None      // this build has no OpenCL part
};

OpenClWay opencl_way(const MachineFiles& machine);

// The loader's file, or empty.
std::filesystem::path opencl_loader(const MachineFiles& machine);

}  // namespace prof

#pragma once
// Determines how the runtime traces OpenCL programs on a machine.

#include <filesystem>

#include "prof/base/machine_files.h"

namespace prof {

enum class OpenClWay {
  Layer,    // the loader supports layers (OPENCL_LAYERS), or no loader is installed
  Preload,  // it does not: a library of prof's intercepts its calls
  None      // this build has no OpenCL part
};

OpenClWay opencl_way(const MachineFiles& machine);

// Returns the loader's file; empty if there is none.
std::filesystem::path opencl_loader(const MachineFiles& machine);

}  // namespace prof

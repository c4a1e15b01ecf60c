#pragma once
// Determines how the runtime traces CUDA programs on a machine.

#include <filesystem>

#include "prof/base/machine_files.h"

namespace prof {

// True if this build has a CUDA part.
bool follows_cuda();

// Returns CUPTI if the runtime finds it without the program's help; empty if not.
std::filesystem::path cupti_library(const MachineFiles& machine);

}  // namespace prof

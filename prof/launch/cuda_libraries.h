#pragma once
// How the runtime can follow CUDA programs on a machine.

#include <filesystem>

#include "prof/base/machine_files.h"

namespace prof {

// Has this build a CUDA part?
bool follows_cuda();

// CUPTI, where the runtime finds it without the program's help; empty where there is none.
std::filesystem::path cupti_library(const MachineFiles& machine);

}  // namespace prof

#pragma once
// Records the names of the program's kernels: as the program looked them up, or from the driver (since CUDA
// 12.3). Thread-safe; not async-signal-safe.

#include "hpcrun/device/cuda/api.h"

namespace hpcrun::cuda {

// Records a name for a CUfunction or CUkernel. The name is copied.
void note_kernel(const void* kernel, const char* name) noexcept;

// Returns nullptr if the name is not known. The text stays valid.
const char* name_of_kernel(CUfunction kernel) noexcept;

// Resets the names in a forked child.
void reset_kernels_after_fork() noexcept;

}  // namespace hpcrun::cuda

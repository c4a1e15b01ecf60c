#pragma once
// What the program's kernels are called: as it asked for them, or by the driver (since CUDA 12.3).
// Thread-safe; not async-signal-safe.

#include "hpcrun/device/cuda/api.h"

namespace hpcrun::cuda {

// CUfunction and CUkernel alike. The name is copied.
void note_kernel(const void* kernel, const char* name) noexcept;

// nullptr: not known. The text stays.
const char* name_of_kernel(CUfunction kernel) noexcept;

// In a forked child.
void forget_kernels() noexcept;

}  // namespace hpcrun::cuda

#pragma once
// Finds NVIDIA's libraries in a process that has begun to use CUDA. Not async-signal-safe.

#include "hpcrun/device/cuda/api.h"

namespace hpcrun::cuda {

enum class CuptiState : uint8_t { Ready, Missing, TooOld, TooNew, Incomplete };

struct CuptiLibrary {
  CuptiState state;
  uint32_t version;  // CUPTI's API version; 0: not known
  char path[512];    // of the file, if one was found
};

// Loads the driver's functions. Returns its handle, or nullptr if it is not loaded.
void* load_driver() noexcept;

// Loads CUPTI, of the driver's major version if available. Tries the file that PROF_CUPTI names; else one
// that the program has loaded, one that the dynamic linker finds, or one next to the runtime's library or
// below the toolkit's folder (CUDA_HOME, CUDA_PATH, /usr/local/cuda).
void load_cupti(CuptiLibrary& out) noexcept;

}  // namespace hpcrun::cuda

#pragma once
// Follows calls of the driver without CUPTI. Our functions replace the driver's in the program's import
// slots, and in what it looks up by dlsym() and cuGetProcAddress(). They call the driver's function, and make
// CUPTI's callbacks before and after it. If times do not come from events, they only add a branch to the
// driver's function.

#include "hpcrun/device/cuda/api.h"

namespace hpcrun::cuda {

// Must be called before the driver's library is loaded: hooks the lookups that the loaded modules make from
// now on, in case calls are followed later.
void stand_by() noexcept;

// Starts reporting calls to on_callback(). `driver_library` is the library's handle.
void follow_hooks(void* driver_library) noexcept;

// Resets the state in a forked child: its hooks stay, and only pass calls on.
void reset_hooks_after_fork() noexcept;

}  // namespace hpcrun::cuda

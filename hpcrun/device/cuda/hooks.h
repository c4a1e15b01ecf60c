#pragma once
// Following calls of the driver without CUPTI: functions of ours that stand for the driver's, in the
// program's import slots and in what it looks up by dlsym() and cuGetProcAddress(). They call the driver's,
// and before and after it what CUPTI would. Where times do not come from events they are the driver's with
// one branch more.

#include "hpcrun/device/cuda/api.h"

namespace hpcrun::cuda {

// Before the driver's library is in the process: what the modules that are loaded look up from now on is
// followed, if it comes to that.
void stand_by() noexcept;

// From now on calls are told to on_callback(). `driver_library` is the library's handle.
void follow_hooks(void* driver_library) noexcept;

// In a forked child: the functions that it has stay, and do nothing of their own.
void forget_hooks() noexcept;

}  // namespace hpcrun::cuda

#pragma once
// Connects the engine to the life of threads and processes. Called by hpcrun/process; not async-signal-safe.

#include "hpcrun/sample/state.h"

namespace hpcrun {

extern const Hooks kDeviceHooks;

// Measuring has ended, and no thread's part of the file is closed yet.
void finish_devices() noexcept;

// Must be called around fork(), so that no other thread uses the engine meanwhile, and in the child, which
// has no device.
void hold_devices() noexcept;
void let_devices_go() noexcept;
void reset_devices_after_fork() noexcept;

// Must be called before the calling thread opens a library with this name.
void before_library_opens(const char* path) noexcept;

// True if the code belongs to a driver, whose threads are part of a device. `code` is a return address.
bool is_driver(const void* code) noexcept;

}  // namespace hpcrun

#pragma once
// The engine in the life of threads and processes. Called by hpcrun/process; not async-signal-safe.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Measuring has ended, and no thread's part of the file is closed yet.
void finish_devices() noexcept;

// The thread's part of the file is about to be closed.
void end_device_thread(ThreadState& thread) noexcept;

// Around fork(): no other thread is at work with the engine meanwhile. The child knows of no device.
void hold_devices() noexcept;
void let_devices_go() noexcept;
void forget_devices() noexcept;

// The calling thread is about to open a library by this name.
void before_library_opens(const char* path) noexcept;

// Is this code a driver's, whose threads are part of a device? `code` is a return address.
bool is_driver(const void* code) noexcept;

}  // namespace hpcrun

#pragma once
// Returns the process that a thread belongs to. In a converted thread (repair/isolate), the kernel reports
// the process that the thread runs as. Async-signal-safe.

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

// In a converted thread, the pid of the program's process; 0 otherwise.
extern constinit thread_local int program_of_converted_thread;

inline int own_process() noexcept {
  return program_of_converted_thread ? program_of_converted_thread : sys_getpid();
}

}  // namespace hpcrun

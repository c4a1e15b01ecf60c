#pragma once
// The process that a thread belongs to. Where threads may run as processes of their own (repair/isolate) the
// kernel tells another one there, to those who ask it themselves. Async-signal-safe.

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

// Of a thread that runs as a process of its own: the program's. 0: the thread is at home.
extern constinit thread_local int program_of_converted_thread;

inline int own_process() noexcept {
  return program_of_converted_thread ? program_of_converted_thread : sys_getpid();
}

}  // namespace hpcrun

#pragma once
// Distinguishes the measured process from a copy made by a fork that the runtime did not observe. Device
// calls and allocations check this often, and a system call would cost more than the rest of their work. A
// page that is emptied in copies answers it with a load.

#include "hpcrun/sample/state.h"

namespace hpcrun {

extern constinit std::atomic<const std::atomic<uint32_t>*> process_mark;

// Must be called in the measured process, before the first check. Not async-signal-safe.
void mark_process() noexcept;
void reset_process_mark_after_fork() noexcept;

// The same as is_sampling_here(), except in children of vfork, which may only execute a program or exit.
inline bool is_sampling_this_copy() noexcept {
  if (!process_state.sampling.load(std::memory_order_acquire)) return false;
  const std::atomic<uint32_t>* const mark = process_mark.load(std::memory_order_acquire);
  return mark ? mark->load(std::memory_order_relaxed) != 0 : process_state.pid == sys_getpid();
}

}  // namespace hpcrun

#pragma once
// Is this the process that is measured, or a copy of it that fork made unseen? Device calls and allocations
// ask often, and a system call costs more than all else that they do here; a page that is emptied in copies
// tells it by a load.

#include "hpcrun/sample/state.h"

namespace hpcrun {

extern constinit std::atomic<const std::atomic<uint32_t>*> process_mark;

// In the process that is measured, before the first question. Not async-signal-safe.
void mark_process() noexcept;
void forget_process_mark() noexcept;

// is_sampling_here(), but for children of vfork, which may only execute a program or exit.
inline bool is_sampling_this_copy() noexcept {
  if (!process_state.sampling.load(std::memory_order_acquire)) return false;
  const std::atomic<uint32_t>* const mark = process_mark.load(std::memory_order_acquire);
  return mark ? mark->load(std::memory_order_relaxed) != 0 : process_state.pid == sys_getpid();
}

}  // namespace hpcrun

#pragma once
// Events by which hardware samples the memory accesses of a thread (Intel PEBS, AMD IBS), each with a ring of
// its own. Runs outside handlers.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Does the kernel let the calling thread have it?
bool can_record(uint32_t event) noexcept;

// Opens the thread's event, disabled, and maps its ring. A thread that cannot have it is noted in the
// measurement file, once for all.
void arm_memory_event(EventState& state, uint32_t event, int tid) noexcept;

// Does the process get records, of choose_sources(), that tell of lines which move between cores?
inline bool records_transfers() noexcept {
  const Config& config = process_state.config;
  for (uint32_t event = 0; event < config.event_count; ++event)
    if (process_state.sources[event] == Source::MemoryRecords && finds_transfers(config.events[event].memory))
      return true;
  return false;
}

}  // namespace hpcrun

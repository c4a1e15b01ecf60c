#pragma once
// Opens events with which hardware samples the memory accesses of a thread (Intel PEBS, AMD IBS), each with a
// ring of its own. Runs outside handlers.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// True if the kernel lets the calling thread use the event.
bool can_record(uint32_t event) noexcept;

// Opens the thread's event, disabled, and maps its ring. If that fails, writes a note to the measurement
// file, once per process.
void arm_memory_event(EventState& state, uint32_t event, int tid) noexcept;

// True if the process gets records about lines that move between cores, as choose_sources() found.
inline bool records_transfers() noexcept {
  const Config& config = process_state.config;
  for (uint32_t event = 0; event < config.event_count; ++event)
    if (process_state.sources[event] == Source::MemoryRecords && finds_transfers(config.events[event].memory))
      return true;
  return false;
}

}  // namespace hpcrun

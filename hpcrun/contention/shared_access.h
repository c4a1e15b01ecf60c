#pragma once
// An access to a contended line, as the search reports it to repairs while the program runs.

#include <cstdint>

#include "hpcrun/model/memory_access.h"

namespace hpcrun {

struct SharedAccess {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t address;
  uint64_t weight_ns;  // CPU time that a sample stands for; 0: not a sample
  uint64_t object;     // a unique number of the allocation; 0: not known
  uint64_t begin;      // the start of the allocation
  uint32_t site;       // the allocation site; 0: not known
  uint32_t thread;
  uint16_t bytes;
  AccessKind kind;
  bool is_seen;    // by a breakpoint or hardware, so the thread is certain
  bool is_usable;  // bytes and kind are known
  bool is_locked;
};

}  // namespace hpcrun

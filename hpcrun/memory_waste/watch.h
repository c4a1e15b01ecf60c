#pragma once
// A sampled access whose bytes are watched: what is known of it, from the sample to the decision.

#include <cstdint>

#include "hpcrun/cct/cct.h"
#include "hpcrun/memory_waste/breakpoint.h"
#include "hpcrun/memory_waste/other_threads.h"
#include "hpcrun/memory_waste/watched_bytes.h"

namespace hpcrun {

// Bytes that one later access decided.
struct Outcome {
  NodeId second = kNoNode;  // context of that access; kNoNode: not needed
  ByteMask bytes = 0;
  bool is_wasted = false;
  bool is_frame_end = false;  // no access: the stack frame ended
};

struct Watch {
  enum class State : uint8_t {
    Free,
    Expected,  // the sampled access is about to be executed
    Watched,   // it was; the next accesses decide
    Decided,   // whether other threads ran meanwhile is not known yet
  };

  Breakpoint breakpoint;
  State state;
  uint8_t hits;
  uint8_t generation;  // tells late signals of the breakpoint's earlier watches apart
  uint8_t outcome_count;
  WatchedBytes bytes;
  uint64_t instruction;  // of the sampled access
  NodeId first;          // its context
  OthersTime began;
  uint64_t decided_ns;
  Outcome outcomes[kMaxWatchedBytes];

  bool is_used() const noexcept { return state != State::Free; }
  void add(const Outcome& outcome) noexcept {
    if (outcome.bytes && outcome_count < kMaxWatchedBytes) outcomes[outcome_count++] = outcome;
  }
};

}  // namespace hpcrun

#pragma once
// Threads that are sampled with CPU-time timers and watched for contention, without the rest of the runtime.

#include <cstdint>
#include <functional>
#include <vector>

#include "hpcrun/contention/contention_watch.h"

struct ThreadEvidence {
  uint32_t thread;
  hpcrun::Evidence evidence;
};

struct ThreadProgress {
  uint32_t thread;
  uint64_t line;
  hpcrun::Progress progress;
};

// The body of a thread. It runs until `stop`, in code that starts at `begin` (for decoding).
struct WatchedBody {
  void (*run)(void* data, const volatile bool& stop);
  void* data;
};

struct WatchedRun {
  std::vector<ThreadEvidence> evidence;
  std::vector<ThreadProgress> progress;
  int failure = 0;  // from setting breakpoints, a negated errno
  uint64_t samples = 0;
  uint32_t asked_often = 0;  // how often samples were requested at a high rate
};

// Runs all bodies at once until `is_enough` returns true for what was found so far, or `seconds` have passed.
WatchedRun run_watched(const std::vector<WatchedBody>& bodies, double seconds,
                       const std::function<bool(const WatchedRun&)>& is_enough = {});

// Returns the state of an interrupted thread.
hpcrun::MachineState machine_state_of(const void* ucontext);

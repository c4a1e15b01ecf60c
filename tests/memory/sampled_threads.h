#pragma once
// Threads that are sampled by timers of their CPU time and watched for contention, without the rest of the
// runtime.

#include <cstdint>
#include <functional>
#include <vector>

#include "hpcrun/memory/contention_watch.h"

struct ThreadEvidence {
  uint32_t thread;
  hpcrun::Evidence evidence;
};

struct ThreadProgress {
  uint32_t thread;
  uint64_t line;
  hpcrun::Progress progress;
};

// The body of a thread: it runs until `stop`, in code that begins at `begin` (for decoding).
struct WatchedBody {
  void (*run)(void* data, const volatile bool& stop);
  void* data;
};

struct WatchedRun {
  std::vector<ThreadEvidence> evidence;
  std::vector<ThreadProgress> progress;
  int failure = 0;  // of setting breakpoints, a negated errno
  uint64_t samples = 0;
  uint32_t asked_often = 0;  // samples were asked to come often
};

// Runs all bodies at once until `is_enough` says so of what was found so far, or so many seconds went by.
WatchedRun run_watched(const std::vector<WatchedBody>& bodies, double seconds,
                       const std::function<bool(const WatchedRun&)>& is_enough = {});

// The state of an interrupted thread.
hpcrun::MachineState machine_state_of(const void* ucontext);

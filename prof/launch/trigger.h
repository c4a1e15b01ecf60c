#pragma once
// The sample trigger that this machine and user allow.

#include <optional>

#include "hpcrun/sample/config.h"

namespace prof {

struct TriggerProbe {
  hpcrun::Trigger trigger = hpcrun::Trigger::Timer;
  // The cost of one sample before our handler begins: interrupt, signal, return. Measured if the trigger is
  // sigtrap, otherwise a typical figure.
  double cost_s = 0;
  bool has_clock = true;   // false: the kernel refuses every source of CPUTIME
  bool has_timers = true;  // false: it refuses timers, and so REALTIME
};

constexpr int kProbeTurns = 4;

// Tries perf's sigtrap in a child process, also with SIGTRAP blocked. Kernels that kill the process in that
// case must not be used, because glibc blocks all signals while it creates a thread. Takes half a millisecond
// of CPU time, and as much again for each turn in which the cost is measured; one turn is enough if few
// samples are taken. Until prof ends it keeps a disabled event of its own open, so that no measured process
// waits for the machine's first event.
TriggerProbe probe_trigger(int turns = kProbeTurns);

// Returns the trigger that the user requests with PROF_TRIGGER, if any. Throws CommandError (125) for an
// unknown name.
std::optional<hpcrun::Trigger> users_trigger();

// Returns the trigger of a run: the user's, unless this machine allows only a worse one.
hpcrun::Trigger chosen_trigger(std::optional<hpcrun::Trigger> users, const TriggerProbe& probe);

const char* trigger_name(hpcrun::Trigger trigger);

}  // namespace prof

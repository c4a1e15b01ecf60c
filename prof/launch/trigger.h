#pragma once
// Which sample trigger this machine and user allow.

#include <optional>

#include "hpcrun/sample/config.h"

namespace prof {

struct TriggerProbe {
  hpcrun::Trigger trigger = hpcrun::Trigger::Timer;
  // What one sample costs before our handler does anything: interrupt, signal, return. Measured where the
  // trigger is sigtrap, else a typical figure.
  double cost_s = 0;
  bool has_clock = true;   // false: the kernel refuses every source of CPUTIME
  bool has_timers = true;  // false: it refuses timers, and so REALTIME
};

constexpr int kProbeTurns = 4;

// Tries perf's sigtrap in a child process, also with SIGTRAP blocked (kernels that kill for it must not
// be used: glibc blocks all signals while it creates a thread). Takes half a millisecond of CPU time, and as
// much again for each turn in which the cost is measured: one will do where few samples are taken. Until prof
// ends it keeps a disabled event of its own open, so that no measured process waits for the machine's first
// one.
TriggerProbe probe_trigger(int turns = kProbeTurns);

// The trigger that the user asks for in PROF_TRIGGER, if any. Throws CommandError (125) for a name that is
// none.
std::optional<hpcrun::Trigger> users_trigger();

// The trigger of a run: nothing better than this machine allows, and than the user asks for.
hpcrun::Trigger chosen_trigger(std::optional<hpcrun::Trigger> users, const TriggerProbe& probe);

const char* trigger_name(hpcrun::Trigger trigger);

}  // namespace prof

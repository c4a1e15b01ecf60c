#pragma once
// Which sample trigger this machine and user allow.

#include "hpcrun/sample/config.h"

namespace prof {

// Tries perf's sigtrap in a child process, also with SIGTRAP blocked (kernels that kill for it must not
// be used: glibc blocks all signals while it creates a thread). Takes a few milliseconds.
hpcrun::Trigger best_trigger();

const char* trigger_name(hpcrun::Trigger trigger);

}  // namespace prof

#pragma once
// Searches wasted stores and loads in the measured process, with samples of CPU time and breakpoints: keeps
// the state of each thread, and passes samples and hits to it.

#include "hpcrun/hooks.h"

namespace hpcrun {

extern const Hooks kMemoryWasteHooks;

}  // namespace hpcrun

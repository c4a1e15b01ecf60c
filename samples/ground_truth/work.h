#pragma once
// Runs every kind of call that a stack walk has to handle, in this thread, until the time is over.

#include <cstdint>

#include "shadow.h"

namespace ground_truth {

// Names of the functions in the symbol tables ("gt_" + name), by id.
extern const char* const kFunctionSymbols[kFunctionCount];

// Must be called once per process. Installs handlers for SIGUSR1, SIGUSR2 and SIGILL.
void install_handlers();

// `thread_truth.current` must be the shadow of this thread's own stack. Returns a checksum.
uint64_t work_for(uint64_t nanoseconds);

}  // namespace ground_truth

#pragma once
// Runs every kind of call that a stack walk has to get right, in this thread, until the time is over.

#include <cstdint>

#include "shadow.h"

namespace ground_truth {

// Names of the functions as the symbol tables have them ("gt_" + name), by id.
extern const char* const kFunctionSymbols[kFunctionCount];

// Once per process: handlers for SIGUSR1, SIGUSR2 and SIGILL.
void install_handlers();

// Needs `thread_truth.current` (the shadow of this thread's own stack). Returns a checksum.
uint64_t work_for(uint64_t nanoseconds);

}  // namespace ground_truth

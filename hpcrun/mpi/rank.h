#pragma once
// What the library that stands in front of MPI_Init tells the runtime.

#include <cstdint>

// The runtime exports it: which of so many ranks the process is, as MPI says; 0 <= rank < ranks. Where its
// launcher has told the rank, that stands. Async-signal-safe.
extern "C" void hpcrun_set_rank(int32_t rank, int32_t ranks) noexcept __attribute__((weak));

#pragma once
// Passes the rank from the library that interposes on MPI_Init to the runtime.

#include <cstdint>

// Sets the rank and the number of ranks, as MPI reports them; 0 <= rank < ranks. Does not change a rank that
// the launcher gave. Exported by the runtime. Async-signal-safe.
extern "C" void hpcrun_set_rank(int32_t rank, int32_t ranks) noexcept __attribute__((weak));

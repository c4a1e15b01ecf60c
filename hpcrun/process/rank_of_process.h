#pragma once
// The rank of the process in a parallel program, from the launcher's environment variables or from MPI.

#include <cstdint>

namespace hpcrun {

// Returns the rank; -1 if the launcher does not report it. Not async-signal-safe.
int rank_of_process() noexcept;

// Records the rank by MPI of this process, or of the one that forked it. It is written into the open file
// (Counter::RankByMpi), and into those of forked children.
void note_rank_by_mpi(int32_t rank, int32_t ranks) noexcept;
void write_rank_by_mpi() noexcept;

}  // namespace hpcrun

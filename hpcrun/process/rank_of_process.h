#pragma once
// Which rank of a parallel program the process is, as its launcher says in the environment, or MPI.

#include <cstdint>

namespace hpcrun {

// -1: the launcher does not say. Not async-signal-safe.
int rank_of_process() noexcept;

// What MPI said of this process, or of the one that forked it, goes into the file that is open (Counter::
// RankByMpi), and into those of forked children.
void note_rank_by_mpi(int32_t rank, int32_t ranks) noexcept;
void write_rank_by_mpi() noexcept;

}  // namespace hpcrun

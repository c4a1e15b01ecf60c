#pragma once
// Which process of a parallel program `prof run` was started as, by what the launcher says in the
// environment: `mpirun -n 4 prof run ./app` starts it four times.

#include <optional>
#include <string>

namespace prof {

struct ParallelJob {
  int rank = 0;
  int size = 0;         // processes that were launched together, 2 at least
  int local_rank = -1;  // among those on this node; -1: not known
  // The same for all ranks of a launch, and another for another launch in the same directory: the batch
  // system's id of the job and what the launcher calls this launch in it.
  std::string launch;
};

// From the environment of Open MPI, MPICH and its like, MVAPICH, PALS, Flux and Slurm
// (hpcrun/sample/config.h). Nothing outside of a launch, for one of a single process, and where the number of
// processes is not known.
std::optional<ParallelJob> parallel_job();

// The batch system's id of the job (Slurm, PBS, LSF, Flux, PALS); empty outside of one.
std::string batch_job();

}  // namespace prof

#pragma once
// Which process of a parallel program `prof run` was started as, by what the launcher says in the
// environment: `mpirun -n 4 prof run ./app` starts it four times.

#include <cstdint>
#include <optional>
#include <string>

namespace prof {

// By what ranks know each other.
enum class LaunchName : uint8_t {
  OfLaunch,    // what the launcher calls this launch, or what it has for it alone
  OfBatchJob,  // launches that one batch job makes one after the other have the same
  OfParent,    // the process that started them, which is another on each node
};

struct ParallelJob {
  int rank = 0;
  int size = 0;         // processes that were launched together, 2 at least
  int local_rank = -1;  // among those on this node; -1: not known
  // The same for all ranks of a launch, and another for another launch in the same directory, as far as
  // `name` tells: the batch system's id of the job and what the launcher calls this launch in it.
  std::string launch;
  LaunchName name = LaunchName::OfLaunch;
  bool spans_nodes = false;  // known to have ranks on other nodes as well
};

// From the environment of Open MPI, MPICH and its like, MVAPICH, PALS, Flux and Slurm
// (hpcrun/sample/config.h). Nothing outside of a launch, for one of a single process, and where the number of
// processes is not known.
std::optional<ParallelJob> parallel_job();

// Whether the process is a rank, of which the launcher does not tell both which one and of how many: MPI
// itself is to be asked (hpcrun/mpi).
bool is_untold_rank();

// The batch system's id of the job (Slurm, PBS, LSF, Flux), and of a job in an array; empty outside of one.
std::string batch_job();

}  // namespace prof

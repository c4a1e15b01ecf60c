#pragma once
// Which process of a parallel program `prof run` was started as, by the launcher's environment variables:
// `mpirun -n 4 prof run ./app` starts it four times.

#include <cstdint>
#include <optional>
#include <string>

namespace prof {

// The data by which ranks recognize that they belong to one launch.
enum class LaunchName : uint8_t {
  OfLaunch,    // the launcher's name for this launch, or something that only this launch has
  OfBatchJob,  // the batch job, whose consecutive launches have the same name
  OfParent,    // the process that started the ranks, which differs between nodes
};

struct ParallelJob {
  int rank = 0;
  int size = 0;         // processes that were launched together, at least 2
  int local_rank = -1;  // among those on this node; -1: not known
  // The same for all ranks of a launch, and different for another launch in the same directory, as far as
  // `name` allows. Consists of the batch system's id of the job, and the launcher's name for this launch in
  // it.
  std::string launch;
  LaunchName name = LaunchName::OfLaunch;
  bool spans_nodes = false;  // known to have ranks on other nodes
};

// Reads the environment of Open MPI, MPICH and similar, MVAPICH, PALS, Flux and Slurm
// (hpcrun/sample/config.h). Returns nothing outside a launch, for a launch of a single process, and if the
// number of processes is not known.
std::optional<ParallelJob> parallel_job();

// True if the process is a rank, but the launcher does not report both its number and the number of ranks.
// MPI itself has to be asked then (hpcrun/mpi).
bool is_unnumbered_rank();

// Returns the batch system's id of the job (Slurm, PBS, LSF, Flux), including that of a job in an array;
// empty outside a job.
std::string batch_job();

}  // namespace prof

#pragma once
// What the launcher's process on a node, of which ranks descend, tells of their launch.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace prof {

struct HydraProxy {
  int pid = 0;
  // Where the launch's mpiexec listens, "n1-41455", which is the same on all nodes and for no two launches
  // that run; with "-1" and so on behind it for processes that were started by MPI_Comm_spawn. Empty where
  // its command line does not tell.
  std::string launch;
};

// The proxy of Hydra, the launcher of MPICH and its like, that is the nearest launcher's process above
// `process`. Nothing where another launcher's is nearer, or the process is in a container of its own.
// `proc`: /proc.
std::optional<HydraProxy> hydra_proxy_above(int process, const std::filesystem::path& proc = "/proc");

// When a process of this machine was started, to a hundredth of a second; nothing where it is not known.
std::optional<std::chrono::system_clock::time_point> start_of_process(int process);

}  // namespace prof

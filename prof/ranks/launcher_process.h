#pragma once
// Information about a launch from the launcher's process on a node, whose descendants the ranks are.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace prof {

struct HydraProxy {
  int pid = 0;
  // The address at which the launch's mpiexec listens, "n1-41455". It is the same on all nodes, and differs
  // between running launches. "-1" and so on follow it for processes that were started by MPI_Comm_spawn.
  // Empty if the command line does not contain it.
  std::string launch;
};

// Returns the nearest launcher's process above `process`, if it is a proxy of Hydra, the launcher of MPICH
// and similar. Returns nothing if another launcher is nearer, or the process is in a container of its own.
// `proc`: /proc.
std::optional<HydraProxy> hydra_proxy_above(int process, const std::filesystem::path& proc = "/proc");

// Returns when a process of this machine was started, to a hundredth of a second; nothing if not known.
std::optional<std::chrono::system_clock::time_point> start_of_process(int process);

}  // namespace prof

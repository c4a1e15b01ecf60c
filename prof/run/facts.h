#pragma once
// Facts that plan_run() needs about the machine, the program, the user's environment and the launch. They are
// gathered before planning; a test fills them in.

#include <filesystem>
#include <optional>
#include <string>

#include "prof/launch/devices.h"
#include "prof/launch/launch.h"
#include "prof/launch/target.h"
#include "prof/launch/trigger.h"
#include "prof/ranks/rank_part.h"
#include "prof/repair/repair_request.h"
#include "prof/run/request.h"

namespace prof {

// About the rank that this process is in a parallel job.
struct RankFacts {
  bool shares_directory = true;
  bool watches_debuggers = true;
  std::string file_prefix;  // of its measurement files
  Environment environment;  // variables of the launch for the program
};

// prof's libraries, each as the loader takes it in LD_PRELOAD, and files next to them.
struct RunLibraries {
  std::filesystem::path runtime;
  std::filesystem::path memory;
  std::filesystem::path sync;
  std::filesystem::path mpi;
  std::filesystem::path opencl;
  std::filesystem::path isolate;
  std::filesystem::path allocator;  // for common memory; empty: not installed, or the run needs none
  std::filesystem::path outside_exec;
};

struct RunFacts {
  Target target;
  SampledEvents sampled;
  std::optional<hpcrun::Trigger> users_trigger;
  TriggerProbe probe;
  int outside_error = 0;      // errno with which the kernel refuses to sample a program from outside
  std::string memory_events;  // the value of PROF_MEMORY_EVENTS
  GivenRepairs given;
  std::optional<DeviceSurroundings> devices;  // absent with --no-devices
  std::optional<RankFacts> rank;              // absent outside a parallel job
  bool is_unnumbered_rank = false;            // a rank whose launcher does not report its number
  RunLibraries libraries;
  std::string kernel_release;   // "6.1.0-18-amd64"
  std::string mount_namespace;  // the value of PROF_MOUNTS
  std::string preloaded;        // the user's LD_PRELOAD
  std::string tunables;         // the user's GLIBC_TUNABLES
};

std::optional<RankFacts> rank_facts(const std::optional<RankPart>& rank);

// Gathers everything that the request needs. Tries perf events in a child process; writes nothing but links
// to libraries (preloadable()). Throws CommandError: 125 for an event that is not available here, 126 or 127
// for a program that cannot be executed.
RunFacts gather_run_facts(const RunRequest& request, const std::optional<RankFacts>& rank);

}  // namespace prof

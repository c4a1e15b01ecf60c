#pragma once
// Names of measurement directories.

#include <string>
#include <string_view>

namespace prof {

// Values that can be inserted into a name.
struct RunIdentity {
  std::string host;
  int pid = 0;                  // of `prof`
  int rank = 0;                 // of this process in its MPI job; 0 outside of one
  std::string job_or_time;      // the batch system's id of the job, else the local time as YYYYMMDD-HHMMSS
  bool is_one_of_many = false;  // job_or_time is then the launch, which all ranks share
};

// Reads the environment of launchers (prof/ranks/parallel_job.h), of PMIx, and of Slurm, PBS, LSF and Flux.
RunIdentity identity_of_this_run();

// Replaces %h, %p, %r, %j and %%. Slashes in the values become '_', so that they name no folders. Throws
// CommandError (125) for any other character after a percent sign.
std::string expand_directory_name(std::string_view name, const RunIdentity& run);

// True if the name has one of these letters after a percent sign.
bool names_any_of(std::string_view name, std::string_view letters);

// Returns prof-<program>-<job id or time>-<pid>, or prof-<program>-<launch> for a launch of many ranks, which
// all have the same name.
std::string default_directory_name(const std::string& program, const RunIdentity& run);

}  // namespace prof

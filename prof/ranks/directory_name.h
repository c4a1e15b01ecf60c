#pragma once
// How measurement directories are named.

#include <string>
#include <string_view>

namespace prof {

// What can stand in a name.
struct RunIdentity {
  std::string host;
  int pid = 0;                  // of `prof`
  int rank = 0;                 // of this process in its MPI job; 0 outside of one
  std::string job_or_time;      // the batch system's id of the job, else the local time as YYYYMMDD-HHMMSS
  bool is_one_of_many = false;  // job_or_time is then the launch that the ranks have in common
};

// From the environment of launchers (prof/ranks/parallel_job.h) and of PMIx, and that of Slurm, PBS, LSF and
// Flux.
RunIdentity identity_of_this_run();

// %h, %p, %r, %j and %% replaced. Slashes in the values become '_': they name no folders. Throws CommandError
// (125) for anything else behind a percent sign.
std::string expand_directory_name(std::string_view name, const RunIdentity& run);

// True where the name has one of these letters behind a percent sign.
bool names_any_of(std::string_view name, std::string_view letters);

// prof-<program>-<job id or time>-<pid>; of a launch of many ranks prof-<program>-<launch>, the same for all
std::string default_directory_name(const std::string& program, const RunIdentity& run);

}  // namespace prof

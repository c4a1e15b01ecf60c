#include "prof/ranks/parallel_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "hpcrun/sample/config.h"
#include "prof/ranks/launcher_process.h"

namespace prof {
namespace {

using hpcrun::RankVariables;

std::string variable(const char* name) {
  const char* const value = name ? getenv(name) : nullptr;
  return value ? value : "";
}

std::optional<int> number(const char* name) {
  const std::string text = variable(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

bool is_of_mvapich(std::string_view rank) {
  return rank.starts_with("MV2_");
}

bool is_of_pmi(std::string_view rank) {
  return rank.starts_with("PMI_") || is_of_mvapich(rank);
}

// Returns how many of the ranks are on this node, if MPICH and similar launchers report it.
std::optional<int> ranks_here(std::string_view rank) {
  if (is_of_mvapich(rank)) return number("MV2_COMM_WORLD_LOCAL_SIZE");
  if (!is_of_pmi(rank)) return std::nullopt;
  const std::optional<int> of_hydra = number("MPI_LOCALNRANKS");
  return of_hydra ? of_hydra : number("PMI_LOCAL_SIZE");
}

// Returns the name of the launch by the launcher that started these ranks; empty if it has none. Each rule
// must hold for all ranks of a launch or for none: otherwise one rank could get a name that the others do not
// have.
std::string name_of_launch(const RankVariables& names, int size) {
  const std::string_view rank = names.rank;
  // In a batch job of Slurm, mpirun starts its processes on other nodes with srun, but not on its own node.
  if (!rank.starts_with("OMPI")) {
    // Hydra may run in a step of another launcher, whose variables are still set.
    if (is_of_pmi(rank))
      if (const auto proxy = hydra_proxy_above(getpid())) {
        if (!proxy->launch.empty()) return proxy->launch;
        if (ranks_here(rank) == size) return fmt::format("{}", proxy->pid);
      }
    // A step of one process, in which mpiexec is called, is not the launch of these ranks.
    if (number("SLURM_STEP_NUM_TASKS") == size)
      if (std::string step = variable("SLURM_STEP_ID"); !step.empty()) return step;
    if (number("FLUX_JOB_SIZE") == size)
      if (std::string id = variable("FLUX_JOB_ID"); !id.empty()) return id;
  }
  // mpirun_rsh of MVAPICH: its process id and its node.
  if (const std::string host = variable("MPISPAWN_MPIRUN_HOST"), id = variable("MPISPAWN_MPIRUN_ID");
      is_of_mvapich(rank) && !host.empty() && !id.empty())
    return host + "-" + id;
  for (const char* name : {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE", "PALS_APID", "I_MPI_HYDRA_UUID"})
    if (std::string id = variable(name); !id.empty()) return id;
  return {};
}

void name_launch(const RankVariables& names, ParallelJob& job) {
  const std::string batch = batch_job(), own = name_of_launch(names, job.size);
  if (!own.empty()) {
    job.launch = batch.empty() || own == batch ? own : batch + "." + own;
  } else if (!batch.empty()) {
    job.launch = batch;
    job.name = LaunchName::OfBatchJob;
  } else {
    job.launch = fmt::format("{}", getppid());
    job.name = LaunchName::OfParent;
  }
}

}  // namespace

std::string batch_job() {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"}) {
    std::string id = variable(name);
    if (id.empty()) continue;
    // Only LSF gives all jobs of an array the same id. The index is 0 outside an array.
    if (std::string_view(name) == "LSB_JOBID")
      if (const int index = number("LSB_JOBINDEX").value_or(0); index > 0) id += fmt::format("_{}", index);
    return id;
  }
  return {};
}

bool is_unnumbered_rank() {
  for (const RankVariables& names : hpcrun::kRankVariables)
    if (number(names.rank) && number(names.size)) return false;
  // Variables by which a process finds its launcher (PMI-1 and 2, PMIx), or that contain its number only.
  for (const char* name : {"PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMIX_NAMESPACE", "PMIX_RANK"})
    if (getenv(name)) return true;
  return false;
}

std::optional<ParallelJob> parallel_job() {
  for (const RankVariables& names : hpcrun::kRankVariables) {
    const std::optional<int> rank = number(names.rank), size = number(names.size);
    if (!rank || !size) continue;
    if (*size < 2 || *rank >= *size) return std::nullopt;
    ParallelJob job{*rank, *size, number(names.local_rank).value_or(-1), {}};
    job.spans_nodes = ranks_here(names.rank).value_or(*size) < *size;
    name_launch(names, job);
    return job;
  }
  return std::nullopt;
}

}  // namespace prof

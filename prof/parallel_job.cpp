#include "prof/parallel_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "hpcrun/sample/config.h"

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

// How launchers tell their launches in one job apart. Without any, ranks have the launcher's process on their
// node in common.
std::string launch_in_job(const RankVariables& names) {
  const bool is_of_slurm = std::string_view(names.rank) == "SLURM_PROCID";
  // mpirun in a batch job of Slurm starts its processes by srun on other nodes, but not on its own.
  const bool is_of_open_mpi = std::string_view(names.rank).starts_with("OMPI");
  if (!is_of_open_mpi && (is_of_slurm || variable("SLURM_PROCID") == variable(names.rank)))
    if (const std::string step = variable("SLURM_STEP_ID"); !step.empty()) return step;
  for (const char* name : {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE", "PALS_APID"})
    if (const std::string id = variable(name); !id.empty()) return id;
  return {};
}

}  // namespace

std::string batch_job() {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"})
    if (std::string id = variable(name); !id.empty()) return id;
  return {};
}

std::optional<ParallelJob> parallel_job() {
  for (const RankVariables& names : hpcrun::kRankVariables) {
    const std::optional<int> rank = number(names.rank), size = number(names.size);
    if (!rank || !size) continue;
    if (*size < 2 || *rank >= *size) return std::nullopt;
    const std::string job = batch_job(), own = launch_in_job(names);
    const std::string launch = own.empty()   ? job.empty() ? fmt::format("{}", getppid()) : job
                               : job.empty() ? own
                                             : job + "." + own;
    return ParallelJob{*rank, *size, number(names.local_rank).value_or(-1), launch};
  }
  return std::nullopt;
}

}  // namespace prof

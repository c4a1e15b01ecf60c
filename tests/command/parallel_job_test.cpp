#include <unistd.h>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <string>

#include "prof/directory_name.h"
#include "prof/parallel_job.h"

using namespace prof;

namespace {

using Variables = std::map<std::string, std::string>;

// Variables of the environment, as long as it lives.
class Environment {
 public:
  explicit Environment(Variables variables) : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }
  Environment(const Environment&) = delete;

 private:
  Variables variables_;
};

std::string launch() {
  const auto job = parallel_job();
  return job ? job->launch : "";
}

}  // namespace

TEST_CASE("Open MPI tells rank, size and launch") {
  const Environment environment({{"OMPI_COMM_WORLD_RANK", "3"},
                                 {"OMPI_COMM_WORLD_SIZE", "8"},
                                 {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                 {"OMPI_MCA_ess_base_jobid", "57540609"}});
  const auto job = parallel_job();
  REQUIRE(job);
  CHECK(job->rank == 3);
  CHECK(job->size == 8);
  CHECK(job->local_rank == 1);
  CHECK(job->launch == "57540609");
  CHECK(default_directory_name("/bin/app", identity_of_this_run()) == "prof-app-57540609");
  CHECK(expand_directory_name("%j-%r", identity_of_this_run()) == "57540609-3");
}

TEST_CASE("a launch is one of its batch job, the same on all nodes") {
  const Environment batch(Variables{{"SLURM_JOB_ID", "99"}});
  {
    const Environment step({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_ID", "2"}});
    CHECK(launch() == "99.2");
    const Environment pmi({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}});
    CHECK(launch() == "99.2");
  }
  // On the first node mpirun starts processes itself, on others by a step of Slurm's.
  const Environment mpi(
      {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_MCA_ess_base_jobid", "5"}});
  CHECK(launch() == "99.5");
  const Environment step({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_ID", "2"}});
  CHECK(launch() == "99.5");
}

TEST_CASE("MPICH's ranks have their launcher in common where there is no batch job") {
  const Environment environment({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}});
  CHECK(launch() == std::to_string(getppid()));
  const Environment batch(Variables{{"PBS_JOBID", "7.server"}});
  CHECK(launch() == "7.server");
}

TEST_CASE("a batch script, a launch of one process and nonsense are no parallel job") {
  {
    const Environment script({{"SLURM_JOB_ID", "99"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}});
    CHECK_FALSE(parallel_job());
    CHECK(identity_of_this_run().job_or_time == "99");
  }
  for (const char* size : {"1", "0", "x", "", "-3"}) {
    const Environment environment({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", size}});
    CHECK_FALSE(parallel_job());
  }
  const Environment beyond({{"OMPI_COMM_WORLD_RANK", "8"}, {"OMPI_COMM_WORLD_SIZE", "8"}});
  CHECK_FALSE(parallel_job());
}

TEST_CASE("letters of a directory's name") {
  CHECK(names_any_of("out-%r", "pr"));
  CHECK_FALSE(names_any_of("out-%h", "pr"));
  CHECK_FALSE(names_any_of("out-%%r", "pr"));
  CHECK_FALSE(names_any_of("out-%", "pr"));
  CHECK(names_any_of("%%%p", "pr"));
}

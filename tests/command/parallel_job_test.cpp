#include <unistd.h>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "prof/base/message.h"
#include "prof/ranks/directory_name.h"
#include "prof/ranks/launch_record.h"
#include "prof/ranks/launcher_process.h"
#include "prof/ranks/parallel_job.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

using Variables = std::map<std::string, std::string>;

// Sets environment variables as long as it lives.
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

Variables joined(Variables some, const Variables& others) {
  some.insert(others.begin(), others.end());
  return some;
}

// Returns the names of the launch by its ranks, each with its own number.
std::set<std::string> launches(const char* rank, const char* size, int count, const Variables& all) {
  std::set<std::string> names;
  for (int i = 0; i < count; ++i) {
    const Environment environment(joined(all, {{rank, std::to_string(i)}, {size, std::to_string(count)}}));
    names.insert(launch());
  }
  return names;
}

class JobFolder {
 public:
  JobFolder() {
    std::string name = (fs::temp_directory_path() / "prof-launch.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~JobFolder() { fs::remove_all(path); }
  fs::path path;
};

// A process as /proc shows it.
void add_process(const JobFolder& proc, int pid, int parent, const std::string& name,
                 const std::string& words = "") {
  const fs::path own = proc.path / std::to_string(pid);
  fs::create_directory(own);
  std::ofstream(own / "stat") << pid << " (" << name << ") S " << parent
                              << " 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n";
  std::ofstream(own / "cmdline") << words;
}

const std::string kProxyWords("/usr/bin/hydra_pmi_proxy\0--control-port\0n1:41455\0--rmk\0pbs\0--pgid\0", 66);

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
  // mpirun starts processes of the first node itself, and those of other nodes in a step of Slurm's.
  const Environment mpi(
      {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_MCA_ess_base_jobid", "5"}});
  CHECK(launch() == "99.5");
  const Environment step({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_ID", "2"}});
  CHECK(launch() == "99.5");
}

TEST_CASE("ranks in a step of Slurm that is not theirs agree on their launch") {
  // mpiexec in `srun --pty bash`: all have the shell's variables, one task with the number 0.
  const Variables shell = {{"SLURM_JOB_ID", "99"},
                           {"SLURM_STEP_ID", "3"},
                           {"SLURM_PROCID", "0"},
                           {"SLURM_STEP_NUM_TASKS", "1"},
                           {"MPI_LOCALNRANKS", "4"}};
  CHECK(launches("PMI_RANK", "PMI_SIZE", 4, shell) == std::set<std::string>{"99"});
  // srun started a proxy on each of two nodes, and each of those started two ranks.
  std::set<std::string> names;
  for (int i = 0; i < 4; ++i) {
    const Environment rank(joined(shell, {{"PMI_RANK", std::to_string(i)}, {"PMI_SIZE", "4"}}));
    const Environment proxy(
        Variables{{"SLURM_PROCID", std::to_string(i / 2)}, {"SLURM_STEP_NUM_TASKS", "2"}});
    names.insert(launch());
  }
  CHECK(names == std::set<std::string>{"99"});
  // Flux in Slurm: its broker is the only task of the step.
  Variables flux = shell;
  flux["FLUX_JOB_ID"] = "f2Vjbx";
  CHECK(launches("FLUX_TASK_RANK", "FLUX_JOB_SIZE", 4, flux) == std::set<std::string>{"99.f2Vjbx"});
  flux["FLUX_JOB_SIZE"] = "4";
  CHECK(launches("PMI_RANK", "PMI_SIZE", 4, flux) == std::set<std::string>{"99.f2Vjbx"});
}

TEST_CASE("Flux, PALS, MVAPICH and Intel MPI tell rank, size and launch") {
  {
    const Environment flux({{"FLUX_TASK_RANK", "5"},
                            {"FLUX_JOB_SIZE", "8"},
                            {"FLUX_TASK_LOCAL_ID", "1"},
                            {"FLUX_JOB_ID", "f2Vjbx"}});
    const auto job = parallel_job();
    REQUIRE(job);
    CHECK(job->rank == 5);
    CHECK(job->size == 8);
    CHECK(job->local_rank == 1);
    CHECK(job->launch == "f2Vjbx");
    CHECK(job->name == LaunchName::OfLaunch);
    CHECK(default_directory_name("app", identity_of_this_run()) == "prof-app-f2Vjbx");
  }
  CHECK(launches("PMI_RANK", "PMI_SIZE", 3,
                 {{"PALS_RANKID", "0"}, {"PALS_APID", "a1-b2"}, {"PBS_JOBID", "7.pbs"}}) ==
        std::set<std::string>{"7.pbs.a1-b2"});
  CHECK(launches("PALS_RANKID", "PALS_SIZE", 3, {{"PALS_APID", "a1-b2"}}) == std::set<std::string>{"a1-b2"});
  CHECK(launches("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", 3,
                 {{"MPISPAWN_MPIRUN_HOST", "n1"}, {"MPISPAWN_MPIRUN_ID", "4711"}, {"LSB_JOBID", "12"}}) ==
        std::set<std::string>{"12.n1-4711"});
  CHECK(launches("PMI_RANK", "PMI_SIZE", 3, {{"I_MPI_HYDRA_UUID", "3f0c"}}) == std::set<std::string>{"3f0c"});
  {
    const Environment mvapich({{"MV2_COMM_WORLD_RANK", "2"},
                               {"MV2_COMM_WORLD_SIZE", "4"},
                               {"MV2_COMM_WORLD_LOCAL_RANK", "0"},
                               {"MV2_COMM_WORLD_LOCAL_SIZE", "2"}});
    const auto job = parallel_job();
    REQUIRE(job);
    CHECK(job->rank == 2);
    CHECK(job->local_rank == 0);
    CHECK(job->spans_nodes);
  }
}

TEST_CASE("jobs of an array of LSF are different ones") {
  const Environment job(Variables{{"LSB_JOBID", "4711"}});
  CHECK(batch_job() == "4711");
  const Environment none(Variables{{"LSB_JOBINDEX", "0"}});
  CHECK(batch_job() == "4711");
  const Environment third(Variables{{"LSB_JOBINDEX", "3"}});
  CHECK(batch_job() == "4711_3");
  CHECK(launches("PMI_RANK", "PMI_SIZE", 2, {}) == std::set<std::string>{"4711_3"});
}

TEST_CASE("what ranks have in common without a name of their launch is reported") {
  const Environment environment({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}});
  CHECK(launch() == std::to_string(getppid()));
  CHECK(parallel_job()->name == LaunchName::OfParent);
  CHECK_FALSE(parallel_job()->spans_nodes);
  {
    const Environment nodes(Variables{{"MPI_LOCALNRANKS", "1"}});
    CHECK(parallel_job()->spans_nodes);
  }
  const Environment batch(Variables{{"PBS_JOBID", "7.server"}});
  CHECK(launch() == "7.server");
  CHECK(parallel_job()->name == LaunchName::OfBatchJob);
}

TEST_CASE("the proxy of Hydra above a rank tells where its mpiexec listens") {
  const JobFolder proc;
  add_process(proc, 10, 1, "sshd");
  add_process(proc, 20, 10, "hydra_pmi_proxy", kProxyWords + '0' + '\0');
  add_process(proc, 30, 20, "a) script (");
  add_process(proc, 40, 30, "prof");
  for (const int process : {30, 40}) {
    const auto proxy = hydra_proxy_above(process, proc.path);
    REQUIRE(proxy);
    CHECK(proxy->pid == 20);
    CHECK(proxy->launch == "n1-41455");
  }
  CHECK_FALSE(hydra_proxy_above(20, proc.path));
  CHECK_FALSE(hydra_proxy_above(999, proc.path));
  // Processes of MPI_Comm_spawn are a launch of their own.
  add_process(proc, 21, 10, "hydra_pmi_proxy", kProxyWords + '2' + '\0');
  add_process(proc, 41, 21, "prof");
  CHECK(hydra_proxy_above(41, proc.path)->launch == "n1-41455-2");
  // Another launcher is nearer.
  add_process(proc, 50, 20, "flux-shell");
  add_process(proc, 51, 50, "prof");
  CHECK_FALSE(hydra_proxy_above(51, proc.path));
  // A proxy without an address, and a cycle.
  add_process(proc, 60, 1, "hydra_pmi_proxy", "hydra_pmi_proxy");
  add_process(proc, 61, 60, "prof");
  CHECK(hydra_proxy_above(61, proc.path)->launch.empty());
  add_process(proc, 70, 71, "prof");
  add_process(proc, 71, 70, "sh");
  CHECK_FALSE(hydra_proxy_above(70, proc.path));
}

TEST_CASE("the start of a process is reported") {
  using namespace std::chrono_literals;
  const auto now = std::chrono::system_clock::now();
  const auto own = start_of_process(getpid()), parent = start_of_process(getppid());
  REQUIRE(own);
  REQUIRE(parent);
  CHECK(*own < now + 1s);
  CHECK(*own > now - 2min);
  CHECK(*parent < *own + 1s);
  CHECK_FALSE(start_of_process(-1));
}

TEST_CASE("a directory is taken by one launch") {
  const JobFolder folder;
  CHECK_FALSE(launch_record(folder.path));
  LaunchRecord first;
  first.launch = "99.0";
  first.size = 4;
  first.ranks = "all";
  first.token = 0xFFFF'FFFF'FFFF'FFF0;
  first.clock = {"n1", {"10.0.0.1", "::1"}, 4711, 42};
  REQUIRE(create_launch_record(folder.path, first));
  LaunchRecord second = first;
  second.launch = "99.1";
  CHECK_FALSE(create_launch_record(folder.path, second));
  const auto read = launch_record(folder.path);
  REQUIRE(read);
  CHECK(read->launch == "99.0");
  CHECK(read->size == 4);
  CHECK(read->token == first.token);
  CHECK(read->clock.addresses == first.clock.addresses);
  CHECK(read->clock.token == 42);
  CHECK(read->pid == getpid());
  CHECK(std::chrono::abs(std::chrono::system_clock::now() - read->written) < std::chrono::minutes(1));
  CHECK_FALSE(is_abandoned(*read));
  LaunchRecord dead = *read;
  dead.pid = 0x7FFF'FFF0;
  CHECK(is_abandoned(dead));
  dead.host = "elsewhere";
  CHECK_FALSE(is_abandoned(dead));
  CHECK_THROWS_WITH(refuse_launch_of_others(folder.path, *read),
                    Catch::Contains("another launch (99.0, 4 ranks)"));
  // An incomplete file, or one of another kind, is not a record.
  for (const char* text : {"", "{\"launch\": \"99", "{\"launch\": 5, \"size\": 4}", "[]"}) {
    std::ofstream(folder.path / kLaunchFile) << text;
    CHECK_FALSE(launch_record(folder.path));
  }
  CHECK_THROWS_AS(create_launch_record(folder.path / "nowhere", first), CommandError);
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

TEST_CASE("a rank whose launcher does not say how many there are is no part of a launch") {
  for (const char* name : {"PMIX_RANK", "PMI_ID"}) {
    const Environment environment(Variables{{name, "3"}});
    CHECK_FALSE(parallel_job());
    CHECK(expand_directory_name("job-%r", identity_of_this_run()) == "job-3");
  }
}

TEST_CASE("letters of a directory's name") {
  CHECK(names_any_of("out-%r", "pr"));
  CHECK_FALSE(names_any_of("out-%h", "pr"));
  CHECK_FALSE(names_any_of("out-%%r", "pr"));
  CHECK_FALSE(names_any_of("out-%", "pr"));
  CHECK(names_any_of("%%%p", "pr"));
}

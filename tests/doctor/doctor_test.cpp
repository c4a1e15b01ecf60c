#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "prof/doctor/checks.h"
#include "prof/doctor/program.h"
#include "prof/doctor/render.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

// A synthetic machine made of files in a folder: a recent kernel, everything allowed.
class Synthetic {
 public:
  Synthetic() : folder_(fs::temp_directory_path() / ("prof-doctor-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "proc/self");
    machine.root = folder_;
    machine.kernel = "6.1.0-18-amd64";
    machine.user = 1000;
    machine.directory = "/home/me";
    machine.disk = {uint64_t{50} << 30, "ext4", true};
    machine.environment["PATH"] = "/usr/bin";
    put("/proc/sys/kernel/perf_event_paranoid", "1\n");
    put("/proc/self/status", "Name:\tprof\nTracerPid:\t0\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
    put("/proc/cpuinfo", "flags\t\t: fpu vme\n");
    put("/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n");
  }
  ~Synthetic() { fs::remove_all(folder_); }

  void put(const std::string& path, const std::string& text) {
    const fs::path file = folder_ / path.substr(1);
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void remove(const std::string& path) { fs::remove_all(folder_ / path.substr(1)); }

  Machine machine;

 private:
  fs::path folder_;
};

bool names(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("on a machine that allows everything no check limits anything") {
  Synthetic synthetic;
  for (const Check check : machine_checks()) {
    const Diagnosis row = check(synthetic.machine);
    INFO(row.id << ": " << row.state << " / " << row.lost);
    CHECK((row.verdict == Verdict::Good || row.verdict == Verdict::Note));
    CHECK(!row.state.empty());
  }
}

TEST_CASE("what is lost comes with what works") {
  Synthetic synthetic;
  synthetic.machine.perf = {EACCES, EACCES, ENOENT, false};
  synthetic.machine.descriptors = {32, 4096};
  synthetic.machine.pending_signals = {10, 10};
  synthetic.machine.disk.writable = false;
  synthetic.put("/proc/sys/kernel/perf_event_paranoid", "4\n");
  synthetic.put("/proc/sys/kernel/yama/ptrace_scope", "1\n");
  size_t limited = 0;
  for (const Check check : machine_checks()) {
    const Diagnosis row = check(synthetic.machine);
    if (row.verdict != Verdict::Limited) continue;
    ++limited;
    INFO(row.id);
    CHECK(!row.lost.empty());
    CHECK(!row.works.empty());
  }
  CHECK(limited >= 6);
}

TEST_CASE("perf_event_paranoid is judged by its level and the user's capabilities") {
  Synthetic synthetic;
  CHECK(check_paranoid(synthetic.machine).verdict == Verdict::Good);
  synthetic.put("/proc/sys/kernel/perf_event_paranoid", "2\n");
  const Diagnosis two = check_paranoid(synthetic.machine);
  CHECK(two.verdict == Verdict::Limited);
  CHECK(names(two.lost, "system time"));
  CHECK(two.remedy == "sudo sysctl kernel.perf_event_paranoid=1");
  synthetic.put("/proc/sys/kernel/perf_event_paranoid", "3\n");
  CHECK(names(check_paranoid(synthetic.machine).lost, "250"));
  synthetic.put("/proc/self/status", "CapEff:\t0000004000000000\n");  // bit 38, CAP_PERFMON
  CHECK(check_paranoid(synthetic.machine).verdict == Verdict::Good);
  synthetic.put("/proc/sys/kernel/perf_event_paranoid", "not a number\n");
  CHECK(check_paranoid(synthetic.machine).verdict == Verdict::Limited);
  synthetic.remove("/proc");
  CHECK(names(check_paranoid(synthetic.machine).state, "without /proc"));
}

TEST_CASE("the trigger row tells what was tried and whom to ask") {
  Synthetic synthetic;
  CHECK(check_trigger(synthetic.machine).verdict == Verdict::Good);
  synthetic.machine.perf = {EACCES, 0, 0, true};
  CHECK(names(check_trigger(synthetic.machine).lost, "system time"));

  synthetic.machine.perf = {EPERM, EPERM, EPERM, false};
  synthetic.put("/proc/self/status", "CapEff:\t0\nSeccomp:\t2\n");
  CHECK(names(check_trigger(synthetic.machine).remedy, "seccomp"));
  CHECK(check_seccomp(synthetic.machine).verdict == Verdict::Limited);
  synthetic.machine.perf.cpu_clock_user = 0;
  CHECK(check_seccomp(synthetic.machine).verdict == Verdict::Good);

  synthetic.machine.kernel = "4.18.0-553.el8";
  CHECK(names(check_trigger(synthetic.machine).remedy, "5.13"));
  CHECK(check_kernel(synthetic.machine).verdict == Verdict::Limited);
  for (const char* recent : {"5.13.0", "6.18.44-fc", "10.0", "strange", ""}) {
    synthetic.machine.kernel = recent;
    CHECK(check_kernel(synthetic.machine).verdict == Verdict::Good);
  }
}

TEST_CASE("missing hardware counters are explained") {
  Synthetic synthetic;
  synthetic.machine.perf.cycles = ENOENT;
  CHECK(check_counters(synthetic.machine).state == "none (tried)");
  synthetic.put("/proc/cpuinfo", "flags\t\t: fpu hypervisor lm\n");
  CHECK(names(check_counters(synthetic.machine).remedy, "virtual"));
  CHECK(names(check_virtual_machine(synthetic.machine).state, "yes"));
  synthetic.machine.perf.cycles = EACCES;
  CHECK(names(check_counters(synthetic.machine).state, "not permitted for this user"));
}

TEST_CASE("the best source for contention is named, and why it is no better") {
  struct Case {
    const char* device;  // below /sys/bus/event_source/devices; empty: none
    const char* flags;
    int paranoid;
    Verdict verdict;
    const char* state;
    const char* works;
    const char* lost;
    const char* remedy;
  };
  const Case cases[] = {
      {"", "fpu hypervisor", 1, Verdict::Note, "breakpoints", "-e contention", "virtual machine hides", ""},
      {"", "fpu", 1, Verdict::Note, "breakpoints", "-e contention", "neither PEBS nor IBS", ""},
      {"cpu/events/mem-loads", "fpu", 2, Verdict::Note, "memory samples of PEBS; otherwise",
       "perf c2c record", "", ""},
      {"cpu_core/events/mem-loads", "fpu", 2, Verdict::Note, "of PEBS by perf", "perf c2c record", "", ""},
      {"cpu/events/mem-loads", "fpu", 3, Verdict::Note, "breakpoints", "", "of PEBS", "paranoid=1"},
      {"ibs_op/type", "fpu", 1, Verdict::Note, "of ibs_op", "perf c2c record", "", ""},
      {"ibs_op/type", "fpu", 2, Verdict::Note, "breakpoints", "-e contention", "of ibs_op", "paranoid=1"},
      {"ibs_op/format/swfilt", "fpu", 2, Verdict::Note, "of ibs_op", "perf c2c record", "", ""},
      {"ibs_op/type", "fpu hypervisor", 1, Verdict::Note, "of ibs_op", "perf c2c record", "", ""},
  };
  for (const Case& one : cases) {
    Synthetic synthetic;
    if (*one.device) synthetic.put(std::string("/sys/bus/event_source/devices/") + one.device, "11\n");
    synthetic.put("/proc/cpuinfo", std::string("flags\t\t: ") + one.flags + " lm\n");
    synthetic.put("/proc/sys/kernel/perf_event_paranoid", std::to_string(one.paranoid));
    const Diagnosis row = check_contention(synthetic.machine);
    INFO(one.device << " " << one.flags << " " << one.paranoid << ": " << row.state);
    CHECK(row.verdict == one.verdict);
    CHECK(names(row.state, one.state));
    CHECK(names(row.works, one.works));
    CHECK(names(row.lost, one.lost));
    CHECK(row.lost.empty() == (*one.lost == 0));
    CHECK(names(row.remedy, one.remedy));
    CHECK(row.remedy.empty() == (*one.remedy == 0));
  }
  Synthetic forbidden;
  forbidden.machine.perf.cpu_clock_user = EACCES;
  CHECK(check_contention(forbidden.machine).verdict == Verdict::Limited);
  CHECK(names(check_contention(forbidden.machine).lost, "finds nothing"));
}

TEST_CASE("ptrace_scope limits attaching only") {
  Synthetic synthetic;
  CHECK(check_ptrace_scope(synthetic.machine).state == "absent");
  synthetic.put("/proc/sys/kernel/yama/ptrace_scope", "1\n");
  CHECK(check_ptrace_scope(synthetic.machine).verdict == Verdict::Limited);
  synthetic.put("/proc/self/status", "CapEff:\t0000000000080000\n");  // bit 19, CAP_SYS_PTRACE
  CHECK(check_ptrace_scope(synthetic.machine).verdict == Verdict::Good);
  synthetic.put("/proc/sys/kernel/yama/ptrace_scope", "3\n");
  CHECK(check_ptrace_scope(synthetic.machine).verdict == Verdict::Limited);
}

TEST_CASE("limits come with the command that raises them as far as the user may") {
  Synthetic synthetic;
  synthetic.machine.descriptors = {32, 512};
  CHECK(check_descriptors(synthetic.machine).remedy == "ulimit -n 512");
  synthetic.machine.descriptors = {32, kUnlimited};
  CHECK(check_descriptors(synthetic.machine).remedy == "ulimit -n 1024");
  synthetic.machine.descriptors = {32, 32};
  CHECK(names(check_descriptors(synthetic.machine).remedy, "limits.conf"));
  synthetic.machine.pending_signals = {100, 4096};
  CHECK(check_pending_signals(synthetic.machine).remedy == "ulimit -i 4096");
}

TEST_CASE("the place for measurements is judged by space, rights and file system") {
  Synthetic synthetic;
  CHECK(check_disk(synthetic.machine).state == "/home/me: 50.0 GiB free on ext4");
  synthetic.machine.disk.file_system = "nfs4";
  CHECK(check_disk(synthetic.machine).verdict == Verdict::Limited);
  synthetic.machine.disk = {1 << 20, "ext4", true};
  CHECK(names(check_disk(synthetic.machine).works, "short runs"));
  synthetic.machine.disk.writable = false;
  CHECK(names(check_disk(synthetic.machine).state, "not writable"));
}

TEST_CASE("memory is what the machine and the control group leave") {
  Synthetic synthetic;
  CHECK(check_memory(synthetic.machine).verdict == Verdict::Good);
  synthetic.put("/sys/fs/cgroup/memory.max", "104857600\n");
  synthetic.put("/sys/fs/cgroup/memory.current", "52428800\n");
  CHECK(check_memory(synthetic.machine).state == "50.0 MiB available");
  CHECK(check_memory(synthetic.machine).verdict == Verdict::Limited);
  synthetic.put("/sys/fs/cgroup/memory.max", "max\n");
  CHECK(check_memory(synthetic.machine).verdict == Verdict::Good);
}

TEST_CASE("containers, schedulers and other software are recognised") {
  Synthetic synthetic;
  CHECK(check_container(synthetic.machine).state == "none detected");
  synthetic.put("/proc/1/cgroup", "0::/kubepods/pod1\n");
  CHECK(check_container(synthetic.machine).state == "kubepods");
  synthetic.put("/.dockerenv", "");
  CHECK(check_container(synthetic.machine).state == "Docker");

  CHECK(check_mpi(synthetic.machine).state == "not found");
  synthetic.put("/usr/bin/mpirun", "");
  CHECK(check_mpi(synthetic.machine).state == "/usr/bin/mpirun");
  synthetic.machine.environment["PMIX_RANK"] = "3";
  CHECK(check_mpi(synthetic.machine).state == "inside rank 3");

  synthetic.put("/usr/bin/srun", "");
  CHECK(check_job(synthetic.machine).state == "Slurm (/usr/bin/srun)");
  synthetic.machine.environment["PBS_JOBID"] = "17.server";
  CHECK(check_job(synthetic.machine).state == "inside PBS job 17.server");

  CHECK(check_java(synthetic.machine).state == "not found");
  synthetic.put("/usr/bin/java", "");
  CHECK(check_java(synthetic.machine).state == "/usr/bin/java");
  synthetic.put("/usr/lib64/libcuda.so.1", "");
  synthetic.put("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  CHECK(names(check_cuda(synthetic.machine).lost, "administrators"));
  synthetic.put("/etc/OpenCL/vendors/x.icd", "");
  CHECK(check_opencl(synthetic.machine).state != "not found");
}

TEST_CASE("a debugger that traces prof is named") {
  Synthetic synthetic;
  synthetic.put("/proc/self/status", "TracerPid:\t4711\n");
  CHECK(check_tracer(synthetic.machine).verdict == Verdict::Limited);
  CHECK(names(check_tracer(synthetic.machine).state, "4711"));
}

TEST_CASE("an empty root breaks no check") {
  Synthetic synthetic;
  synthetic.remove("/proc");
  synthetic.machine.environment.clear();
  synthetic.machine.kernel.clear();
  synthetic.machine.runtime_problem = "libprof-runtime.so is not in /lib; install prof as a whole";
  DoctorReport report;
  for (const Check check : machine_checks()) report.machine.push_back(check(synthetic.machine));
  CHECK(overall(report) == Verdict::Bad);
  const auto json = nlohmann::json::parse(doctor_as_json(report));
  CHECK(json["verdict"] == "bad");
  CHECK(json["checks"].size() == machine_checks().size());
  CHECK(names(doctor_as_text(report, {}), "No profile can be made"));
}

TEST_CASE("a program that cannot be measured is a diagnosis with the remedy") {
  const ProgramReport missing = examine_program("/no/such/program");
  REQUIRE(missing.diagnoses.size() == 1);
  CHECK(missing.diagnoses[0].verdict == Verdict::Bad);
  CHECK(missing.modules.empty());
}

TEST_CASE("this test has debug information, and its libraries are listed") {
  const ProgramReport report = examine_program("/proc/self/exe");
  REQUIRE(!report.modules.empty());
  CHECK(report.modules[0].level == DebugInformation::Full);
  bool has_libc = false;
  for (const ModuleReport& module : report.modules) has_libc |= module.path.filename() == "libc.so.6";
  CHECK(has_libc);
  CHECK(examine_module("/no/such/file").level == DebugInformation::Unreadable);
  CHECK(examine_module("/etc/passwd").level == DebugInformation::Unreadable);
}

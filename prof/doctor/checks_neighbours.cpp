#include <fmt/format.h>

#include "prof/doctor/checks.h"
#include "prof/launch/cuda_libraries.h"
#include "prof/launch/opencl_loader.h"

namespace prof {
namespace {

Diagnosis note(const char* id, const char* title) {
  return {id, title, Verdict::Note, "not found", "", "", ""};
}

}  // namespace

Diagnosis check_cuda(const Machine& machine) {
  Diagnosis row = note("cuda", "CUDA");
  const std::filesystem::path driver = machine.library("libcuda.so.1");
  const std::string version = machine.text("/proc/driver/nvidia/version").value_or("");
  if (driver.empty() && version.empty()) {
    row.state = "no NVIDIA driver (libcuda.so.1 not found)";
    if (!follows_cuda()) row.state += "; prof was built without CUDA";
    return row;
  }
  row.state = driver.empty() ? "kernel driver without libcuda.so.1" : driver.string();
  const std::filesystem::path cupti = cupti_library(machine);
  if (!follows_cuda()) {
    row.works = "the CPU side of CUDA programs";
    row.lost = "times of kernels on the device: prof was built without CUDA";
  } else if (cupti.empty()) {
    row.works = "the CPU side of CUDA programs";
    row.lost = "times of kernels on the device, unless the program has its own libcupti.so";
    row.remedy = "install CUDA's CUPTI, or: export PROF_CUPTI=/path/to/libcupti.so.13";
  } else {
    row.works = fmt::format("kernels, copies and waits, traced with {}", cupti.string());
  }
  // NVIDIA's driver restricts counters to administrators by default.
  const std::string parameters = machine.text("/proc/driver/nvidia/params").value_or("");
  if (parameters.find("RmProfilingAdminOnly: 1") != parameters.npos)
    row.lost += fmt::format(
        "{}device counters, which only administrators may read (NVreg_RestrictProfilingToAdminUsers)",
        row.lost.empty() ? "" : "; ");
  return row;
}

Diagnosis check_opencl(const Machine& machine) {
  Diagnosis row = note("opencl", "OpenCL");
  const std::filesystem::path loader = opencl_loader(machine);
  const char* const vendors = "/etc/OpenCL/vendors";
  if (loader.empty() && !machine.exists(vendors)) return row;
  row.state =
      loader.empty() ? fmt::format("vendor files in {}, no libOpenCL.so.1", vendors) : loader.string();
  switch (opencl_way(machine)) {
    case OpenClWay::Layer:
      row.works = "kernels, copies and waits, traced with a layer (OPENCL_LAYERS)";
      break;
    case OpenClWay::Preload:
      row.works = "kernels, copies and waits, traced with a preloaded library";
      row.lost = "programs that load libOpenCL.so.1 with dlopen: this loader does not support layers";
      break;
    case OpenClWay::None:
      row.works = "the CPU side of OpenCL programs";
      row.lost = "times of kernels on the device: prof was built without OpenCL's headers";
      break;
  }
  if (!machine.exists(vendors))
    row.lost = fmt::format("OpenCL programs: no driver is registered in {}", vendors);
  return row;
}

Diagnosis check_mpi(const Machine& machine) {
  Diagnosis row = note("mpi", "MPI");
  const std::filesystem::path launcher = machine.program("mpirun");
  for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (machine.variable(rank).empty()) continue;
    row.state = fmt::format("inside rank {}", machine.variable(rank));
    row.works = "reports that distinguish ranks";
    return row;
  }
  if (launcher.empty()) return row;
  row.state = launcher.string();
  row.works = "mpirun -n N prof run ./app, then prof report DIR --view=ranks";
  return row;
}

Diagnosis check_job(const Machine& machine) {
  Diagnosis row = note("scheduler", "batch system");
  for (const auto& [variable, name] : {std::pair{"SLURM_JOB_ID", "Slurm"},
                                       {"PBS_JOBID", "PBS"},
                                       {"LSB_JOBID", "LSF"},
                                       {"FLUX_JOB_ID", "Flux"}}) {
    if (machine.variable(variable).empty()) continue;
    row.state = fmt::format("inside {} job {}", name, machine.variable(variable));
    row.works = "measurement directories with the job ID in their names";
    return row;
  }
  for (const auto& [program, name] :
       {std::pair{"srun", "Slurm"}, {"qsub", "PBS"}, {"bsub", "LSF"}, {"flux", "Flux"}}) {
    const std::filesystem::path path = machine.program(program);
    if (path.empty()) continue;
    row.state = fmt::format("{} ({})", name, path.string());
    row.works = fmt::format("{} ... prof run ./app", program);
    return row;
  }
  return row;
}

Diagnosis check_java(const Machine& machine) {
  Diagnosis row = note("java", "Java");
  const std::filesystem::path java = machine.program("java");
  if (java.empty()) return row;
  row.state = java.string();
  row.works = "native frames; names of compiled methods if the program writes /tmp/perf-PID.map";
  return row;
}

Diagnosis check_debuginfod(const Machine& machine) {
  Diagnosis row = note("debuginfod", "debuginfod");
  const std::string urls = machine.variable("DEBUGINFOD_URLS");
  row.state = urls.empty() ? "DEBUGINFOD_URLS is not set" : urls;
  row.works = "debug files below /usr/lib/debug; prof contacts no server";
  if (!urls.empty()) row.remedy = "debuginfod-find debuginfo FILE";
  return row;
}

const std::vector<Check>& machine_checks() {
  static const std::vector<Check> checks = {
      check_runtime,
      check_trigger,
      check_kernel,
      check_paranoid,
      check_counters,
      check_contention,
      check_capabilities,
      check_seccomp,
      check_tracer,
      check_ptrace_scope,
      check_kernel_symbols,
      check_perf_memory,
      check_proc,
      check_virtual_machine,
      check_container,
      check_disk,
      check_memory,
      check_descriptors,
      check_pending_signals,
      check_locked_memory,
      check_debuginfod,
      check_cuda,
      check_opencl,
      check_mpi,
      check_job,
      check_java,
  };
  return checks;
}

}  // namespace prof

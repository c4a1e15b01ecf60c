#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "prof/doctor/checks.h"

namespace prof {
namespace {

constexpr int kCapSysPtrace = 19;
constexpr int kCapSysAdmin = 21;
constexpr int kCapPerfmon = 38;
constexpr const char* kParanoid = "/proc/sys/kernel/perf_event_paranoid";
constexpr const char* kIbs = "ibs_op";  // also the name of its device
constexpr const char* kLowerParanoid = "sudo sysctl kernel.perf_event_paranoid=1";

bool may_use_perf(const Machine& machine) {
  return machine.has_capability(kCapPerfmon) || machine.has_capability(kCapSysAdmin);
}

bool is_virtual_machine(const Machine& machine) {
  return machine.text("/proc/cpuinfo").value_or("").find(" hypervisor") != std::string::npos;
}

// The processor's sampling of memory accesses, as the kernel offers it; no name if there is none.
struct MemorySampling {
  std::string name;
  bool is_hybrid = false;        // on some cores only: useless for a thread that moves between both kinds
  bool counts_user_code = true;  // can be restricted to user code
};

MemorySampling memory_sampling(const Machine& machine) {
  const std::string devices = "/sys/bus/event_source/devices/";
  if (machine.exists(devices + "cpu/events/mem-loads")) return {"PEBS"};
  if (machine.exists(devices + "cpu_core/events/mem-loads")) return {"PEBS", true};
  if (!machine.exists(devices + kIbs)) return {};
  return {kIbs, false, machine.exists(devices + kIbs + "/format/swfilt")};
}

// True for a kernel of at least 5.13, which introduced perf_event_attr::sigtrap, and if the release cannot be
// parsed.
bool has_sigtrap_kernel(const std::string& release) {
  int major = 0;
  int minor = 0;
  const char* end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, major);
  if (error != std::errc{} || dot == end) return true;
  std::from_chars(dot + 1, end, minor);
  return major > 5 || (major == 5 && minor >= 13);
}

std::string remedy_for_perf(const Machine& machine) {
  if (!has_sigtrap_kernel(machine.kernel)) return "run Linux 5.13 or newer";
  if (!machine.exists(kParanoid)) return "run a kernel that has perf events (CONFIG_PERF_EVENTS)";
  if (machine.number(kParanoid).value_or(2) > 2 && !may_use_perf(machine)) return kLowerParanoid;
  if (machine.status_field("Seccomp").value_or("0") != "0")
    return "allow perf_event_open in the container: docker run --security-opt seccomp=unconfined "
           "--cap-add=PERFMON";
  return kLowerParanoid;
}

}  // namespace

Diagnosis check_runtime(const Machine& machine) {
  Diagnosis row{"runtime", "runtime library", Verdict::Good, "found", "programs can be measured", "", ""};
  if (machine.runtime_problem.empty()) return row;
  row.verdict = Verdict::Bad;
  row.state = machine.runtime_problem.substr(0, machine.runtime_problem.find(';'));
  row.works = "";
  row.lost = "nothing can be measured";
  row.remedy = "cmake --install BUILD --prefix DIR";
  return row;
}

Diagnosis check_kernel(const Machine& machine) {
  Diagnosis row{"kernel",
                "kernel",
                Verdict::Good,
                machine.kernel.empty() ? "unknown" : machine.kernel,
                "sampling by perf events with sigtrap",
                "",
                ""};
  if (has_sigtrap_kernel(machine.kernel)) return row;
  row.verdict = Verdict::Limited;
  row.works = "CPUTIME at 250 samples/s";
  row.lost = "higher rates: sigtrap needs Linux 5.13";
  row.remedy = "run Linux 5.13 or newer";
  return row;
}

Diagnosis check_trigger(const Machine& machine) {
  Diagnosis row{"trigger",
                "sample trigger",
                Verdict::Good,
                "perf clock with sigtrap (tried)",
                "CPUTIME at any rate, user and system time",
                "",
                ""};
  const PerfTrials& perf = machine.perf;
  if (perf.sigtrap && perf.cpu_clock == 0) return row;
  row.verdict = Verdict::Limited;
  if (perf.sigtrap) {
    row.state = "perf clock with sigtrap in user code, a timer in the kernel (tried)";
    row.works = "CPUTIME at any rate in user code";
    row.lost = "system time is sampled at 250 Hz at most";
    row.remedy = kLowerParanoid;
    return row;
  }
  const int error = perf.cpu_clock_user;
  row.state = error == 0
                  ? "thread CPU timers: sigtrap does not arrive (tried)"
                  : fmt::format("thread CPU timers: perf events fail: {} (tried)", std::strerror(error));
  row.works = "CPUTIME at 250 samples/s";
  row.lost = "higher rates";
  row.remedy = remedy_for_perf(machine);
  return row;
}

Diagnosis check_paranoid(const Machine& machine) {
  Diagnosis row{"perf_event_paranoid", "kernel.perf_event_paranoid", Verdict::Good, "", "", "", ""};
  const std::optional<int64_t> level = machine.number(kParanoid);
  if (!level) {
    row.verdict = Verdict::Limited;
    row.state =
        machine.exists("/proc/self") ? "absent: the kernel has no perf events" : "unknown without /proc";
    row.works = "CPUTIME and REALTIME by timers";
    row.lost = "rates above 250 samples/s, hardware events";
    row.remedy = remedy_for_perf(machine);
    return row;
  }
  row.state = std::to_string(*level);
  if (may_use_perf(machine)) {
    row.works = "no limit for this user, who has CAP_PERFMON";
    return row;
  }
  if (*level <= 1) {
    row.works = "user and system time, hardware events";
    return row;
  }
  row.verdict = Verdict::Limited;
  row.works = *level == 2 ? "user code at any rate" : "CPUTIME and REALTIME by timers";
  row.lost = *level == 2 ? "system time at the full rate, hardware events in the kernel"
                         : "rates above 250 samples/s, hardware events";
  row.remedy = kLowerParanoid;
  return row;
}

Diagnosis check_counters(const Machine& machine) {
  Diagnosis row{"counters",
                "hardware counters",
                Verdict::Good,
                "cycles can be sampled (tried)",
                "hardware events, `prof list events`",
                "",
                ""};
  const int error = machine.perf.cycles;
  if (error == 0) return row;
  row.verdict = Verdict::Limited;
  row.works = "CPUTIME and REALTIME, which need no counters";
  row.lost = "cycles, cache misses and all other hardware events";
  if (error == EACCES || error == EPERM) {
    row.state = "not permitted for this user (tried)";
    row.remedy = remedy_for_perf(machine);
    return row;
  }
  const bool is_virtual = is_virtual_machine(machine);
  row.state = is_virtual ? "none: the virtual machine hides them (tried)" : "none (tried)";
  if (is_virtual)
    row.remedy = "give the virtual machine a virtual PMU (KVM: -cpu host,pmu=on; clouds: a metal instance)";
  return row;
}

// The mechanism of -e contention works on all machines. A better source is worth mentioning, and its absence
// loses nothing.
Diagnosis check_contention(const Machine& machine) {
  Diagnosis row{"contention",
                "contention",
                Verdict::Note,
                "decoded instructions and breakpoints",
                "prof run -e contention",
                "",
                ""};
  if (machine.perf.cpu_clock_user != 0) {
    row.verdict = Verdict::Limited;
    row.state = "breakpoints, which the kernel refuses";
    row.works = "prof import of perf c2c recordings";
    row.lost = "prof run -e contention finds nothing";
    row.remedy = remedy_for_perf(machine);
    return row;
  }
  const MemorySampling hardware = memory_sampling(machine);
  const int64_t highest_level = hardware.counts_user_code ? 2 : 1;
  if (hardware.name.empty()) {
    row.lost = is_virtual_machine(machine) ? "memory samples (PEBS, IBS): the virtual machine hides them"
                                           : "memory samples: the kernel offers neither PEBS nor IBS";
  } else if (may_use_perf(machine) || machine.number(kParanoid).value_or(2) <= highest_level) {
    row.state = hardware.is_hybrid ? row.state + "; memory samples of " + hardware.name + " by perf"
                                   : "memory samples of " + hardware.name + "; otherwise " + row.state;
    row.works = "prof run -e contention; perf c2c record -- PROGRAM, then prof import perf.data";
  } else {
    row.lost = "memory samples of " + hardware.name + ", which this user may not use";
    row.remedy = kLowerParanoid;
  }
  return row;
}

Diagnosis check_capabilities(const Machine& machine) {
  Diagnosis row{"capabilities", "capabilities", Verdict::Note, "", "", "", ""};
  if (!machine.status_field("CapEff")) {
    row.state = "unknown without /proc";
    return row;
  }
  std::string held;
  for (const auto& [number, name] : {std::pair{kCapPerfmon, "CAP_PERFMON"},
                                     {kCapSysAdmin, "CAP_SYS_ADMIN"},
                                     {kCapSysPtrace, "CAP_SYS_PTRACE"}})
    if (machine.has_capability(number)) held += (held.empty() ? "" : ", ") + std::string(name);
  row.state = held.empty() ? "none that prof uses" : held;
  row.works = held.empty() ? "the rights of an ordinary user" : "more rights than an ordinary user has";
  return row;
}

Diagnosis check_seccomp(const Machine& machine) {
  Diagnosis row{"seccomp", "seccomp", Verdict::Good, "none", "", "", ""};
  const std::optional<std::string> mode = machine.status_field("Seccomp");
  if (!mode) {
    row.verdict = Verdict::Note;
    row.state = "unknown without /proc";
    return row;
  }
  if (*mode == "0") return row;
  row.state = "a filter";
  const int error = machine.perf.cpu_clock_user;
  if (error == 0) {
    row.works = "the filter allows perf_event_open";
    return row;
  }
  row.verdict = Verdict::Limited;
  row.works = "CPUTIME and REALTIME by timers";
  row.lost = fmt::format("perf events: perf_event_open fails: {}", std::strerror(error));
  row.remedy =
      "docker run --security-opt seccomp=unconfined --cap-add=PERFMON, or a profile that allows "
      "perf_event_open";
  return row;
}

Diagnosis check_tracer(const Machine& machine) {
  Diagnosis row{"tracer", "debugger", Verdict::Good, "none attached to prof", "", "", ""};
  const std::string tracer = machine.status_field("TracerPid").value_or("0");
  if (tracer == "0") return row;
  row.verdict = Verdict::Limited;
  row.state = "process " + tracer + " traces prof";
  row.works = "programs that the debugger does not follow";
  row.lost = "samples of programs that the debugger traces: they would stop it each time";
  row.remedy = "detach process " + tracer + ", or start prof outside the debugger";
  return row;
}

Diagnosis check_ptrace_scope(const Machine& machine) {
  Diagnosis row{"ptrace_scope", "kernel.yama.ptrace_scope", Verdict::Good, "", "", "", ""};
  const std::optional<int64_t> scope = machine.number("/proc/sys/kernel/yama/ptrace_scope");
  row.state = scope ? std::to_string(*scope) : "absent";
  if (!scope || *scope == 0 || (*scope < 3 && machine.has_capability(kCapSysPtrace))) {
    row.works = "attaching to running processes of this user";
    return row;
  }
  row.verdict = Verdict::Limited;
  row.works = "programs that prof starts";
  row.lost =
      *scope == 1 ? "attaching to processes that prof did not start" : "attaching to running processes";
  row.remedy = *scope == 3 ? "reboot with a lower setting: 3 cannot be lowered at run time"
                           : "sudo sysctl kernel.yama.ptrace_scope=0, or run prof as root";
  return row;
}

Diagnosis check_kernel_symbols(const Machine& machine) {
  Diagnosis row{"kptr_restrict", "kernel.kptr_restrict", Verdict::Note, "", "", "", ""};
  const std::optional<int64_t> level = machine.number("/proc/sys/kernel/kptr_restrict");
  row.state = level ? std::to_string(*level) : "absent";
  row.works = "system time, attributed to the calling code without kernel addresses";
  if (level.value_or(0) > 0) {
    row.lost = "names of kernel functions in perf recordings made here";
    row.remedy = "sudo sysctl kernel.kptr_restrict=0";
  }
  return row;
}

Diagnosis check_perf_memory(const Machine& machine) {
  Diagnosis row{"perf_event_mlock_kb", "kernel.perf_event_mlock_kb", Verdict::Note, "", "", "", ""};
  const std::optional<int64_t> size = machine.number("/proc/sys/kernel/perf_event_mlock_kb");
  row.state = size ? fmt::format("{} KiB", *size) : "absent";
  row.works = "memory for perf's buffers, which only static and Go programs need";
  return row;
}

}  // namespace prof

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "analysis/words/numbers.h"
#include "prof/doctor/checks.h"

namespace prof {
namespace {

constexpr uint64_t kMiB = 1 << 20;
// 1,000 samples with a trace take 7 KB (README.md): a busy thread at 1 kHz takes some 26 MB an hour.
constexpr uint64_t kLittleDisk = 200 * kMiB;
// Memory that the analysis of a large run takes (docs: 440 MB for 20 million samples).
constexpr uint64_t kLittleMemory = 512 * kMiB;
// Descriptors of a program with few files, plus prof's.
constexpr uint64_t kFewDescriptors = 64;
// A timer keeps one signal queued. REALTIME and the fallback of CPUTIME use a timer per thread.
constexpr uint64_t kFewSignals = 1024;

std::string size_words(uint64_t bytes) {
  return format_bytes(static_cast<double>(bytes));
}

std::string limit_words(const Limit& limit) {
  return limit.soft == kUnlimited ? "unlimited" : std::to_string(limit.soft);
}

// Returns the number of kB after "Name:" in /proc/meminfo, in bytes.
std::optional<uint64_t> memory_field(const Machine& machine, std::string_view name) {
  std::istringstream lines(machine.text("/proc/meminfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    const size_t digits = line.find_first_of("0123456789");
    uint64_t kilobytes = 0;
    if (digits == line.npos) return std::nullopt;
    std::from_chars(line.data() + digits, line.data() + line.size(), kilobytes);
    return kilobytes * 1024;
  }
  return std::nullopt;
}

bool is_remote(const std::string& file_system) {
  constexpr std::array kRemote = {"nfs",  "nfs4", "lustre", "cifs", "smb3",      "beegfs",
                                  "gpfs", "ceph", "9p",     "afs",  "fuse.sshfs"};
  return std::ranges::find(kRemote, file_system) != kRemote.end();
}

std::string container_of(const Machine& machine) {
  if (machine.exists("/.dockerenv")) return "Docker";
  if (machine.exists("/run/.containerenv")) return "Podman";
  if (const auto kind = machine.text("/run/systemd/container"); kind && !kind->empty()) return *kind;
  if (const std::string kind = machine.variable("container"); !kind.empty()) return kind;
  if (!machine.variable("KUBERNETES_SERVICE_HOST").empty()) return "Kubernetes";
  if (!machine.variable("APPTAINER_NAME").empty() || !machine.variable("SINGULARITY_NAME").empty())
    return "Apptainer";
  const std::string groups = machine.text("/proc/1/cgroup").value_or("");
  for (const char* kind : {"kubepods", "docker", "libpod", "lxc"})
    if (groups.find(kind) != groups.npos) return kind;
  return "";
}

}  // namespace

Diagnosis check_proc(const Machine& machine) {
  Diagnosis row{"proc", "/proc", Verdict::Good, "mounted", "", "", ""};
  if (machine.exists("/proc/self")) return row;
  row.verdict = Verdict::Limited;
  row.state = "not mounted";
  row.works = "samples";
  row.lost = "names of commands, attaching, and several of the checks below";
  row.remedy = "mount -t proc proc /proc";
  return row;
}

Diagnosis check_virtual_machine(const Machine& machine) {
  Diagnosis row{"virtual_machine", "virtual machine", Verdict::Note, "none detected", "", "", ""};
  const std::string vendor = machine.text("/sys/class/dmi/id/sys_vendor").value_or("");
  if (machine.kernel.find("microsoft") != std::string::npos) {
    row.state = "WSL";
  } else if (machine.text("/proc/cpuinfo").value_or("").find(" hypervisor") != std::string::npos) {
    row.state = vendor.empty() ? "yes" : "yes: " + vendor;
  } else {
    return row;
  }
  row.works = "everything; samples cost more than on bare metal, because the host handles interrupts";
  return row;
}

Diagnosis check_container(const Machine& machine) {
  Diagnosis row{"container", "container", Verdict::Note, "none detected", "", "", ""};
  const std::string kind = container_of(machine);
  if (kind.empty()) return row;
  row.state = kind;
  row.works = "see the rows above; sysctl settings must be changed on the host";
  return row;
}

Diagnosis check_disk(const Machine& machine) {
  Diagnosis row{"disk", "measurement directory", Verdict::Good, "", "", "", ""};
  const Disk& disk = machine.disk;
  row.state = fmt::format("{}: {} free{}", machine.directory.string(), size_words(disk.free_bytes),
                          disk.file_system.empty() ? "" : " on " + disk.file_system);
  if (!disk.writable) {
    row.verdict = Verdict::Limited;
    row.state = machine.directory.string() + ": not writable";
    row.works = "measuring into another directory";
    row.lost = "measuring without -o";
    row.remedy = "prof run -o DIR with a writable directory";
  } else if (disk.free_bytes < kLittleDisk) {
    row.verdict = Verdict::Limited;
    row.works = "short runs; if the disk is full, recording stops and the program runs on";
    row.lost = "long runs, many threads, traces";
    row.remedy = "prof run -o DIR on a larger disk";
  } else if (is_remote(disk.file_system)) {
    row.verdict = Verdict::Limited;
    row.works = "measuring";
    row.lost = "speed, and measurements if the connection is lost: they are mapped files";
    row.remedy = "prof run -o DIR on a local disk";
  } else if (disk.file_system == "tmpfs") {
    row.works = "measuring; the measurements use memory and are lost at a reboot";
  }
  return row;
}

Diagnosis check_memory(const Machine& machine) {
  Diagnosis row{"memory", "memory", Verdict::Good, "unknown", "", "", ""};
  std::optional<uint64_t> available = memory_field(machine, "MemAvailable:");
  const std::optional<int64_t> group = machine.number("/sys/fs/cgroup/memory.max");
  const std::optional<int64_t> used = machine.number("/sys/fs/cgroup/memory.current");
  if (group && *group >= 0) {
    const auto left = static_cast<uint64_t>(std::max<int64_t>(0, *group - used.value_or(0)));
    available = std::min(available.value_or(left), left);
  }
  if (!available) return row;
  row.state = size_words(*available) + " available";
  if (*available >= kLittleMemory) return row;
  row.verdict = Verdict::Limited;
  row.works = "measuring, which takes about 1 MiB per process";
  row.lost = "the analysis of large runs";
  row.remedy = "prof run --no-analyze, and prof analyze on a larger machine";
  return row;
}

Diagnosis check_descriptors(const Machine& machine) {
  Diagnosis row{
      "descriptors", "open files (ulimit -n)", Verdict::Good, limit_words(machine.descriptors), "", "", ""};
  if (machine.descriptors.soft >= kFewDescriptors) return row;
  row.verdict = Verdict::Limited;
  row.works = "programs with few open files; prof uses one per event in each process";
  row.lost = "programs that need all their descriptors";
  row.remedy = machine.descriptors.hard > machine.descriptors.soft
                   ? fmt::format("ulimit -n {}", std::min<uint64_t>(machine.descriptors.hard, 1024))
                   : "raise nofile in /etc/security/limits.conf";
  return row;
}

Diagnosis check_pending_signals(const Machine& machine) {
  Diagnosis row{"pending_signals",
                "queued signals (ulimit -i)",
                Verdict::Good,
                limit_words(machine.pending_signals),
                "",
                "",
                ""};
  if (machine.pending_signals.soft >= kFewSignals) return row;
  row.verdict = Verdict::Limited;
  row.works = "programs with few threads";
  row.lost = "REALTIME, and CPUTIME by timers, in threads beyond the limit: each needs a timer";
  row.remedy = machine.pending_signals.hard > machine.pending_signals.soft
                   ? (machine.pending_signals.hard == kUnlimited
                          ? std::string("ulimit -i unlimited")
                          : fmt::format("ulimit -i {}", machine.pending_signals.hard))
                   : "raise sigpending in /etc/security/limits.conf";
  return row;
}

Diagnosis check_locked_memory(const Machine& machine) {
  return {"locked_memory",
          "locked memory (ulimit -l)",
          Verdict::Note,
          machine.locked_memory.soft == kUnlimited ? "unlimited" : size_words(machine.locked_memory.soft),
          "no limit: prof locks no memory",
          "",
          ""};
}

}  // namespace prof

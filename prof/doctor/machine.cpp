#include "prof/doctor/machine.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>

#include "hpcrun/sample/perf_event.h"
#include "prof/base/message.h"
#include "prof/base/runtime_library.h"
#include "prof/launch/trigger.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

constexpr uint32_t kHardwareEvents = 0;  // perf_event_attr::type
constexpr uint64_t kCycles = 0;

int try_event(uint32_t type, uint64_t config, bool exclude_kernel, bool sigtrap) {
  hpcrun::PerfRequest request;
  request.type = type;
  if (type == kHardwareEvents) request.config = config;
  request.exclude_kernel = exclude_kernel;
  request.sigtrap = sigtrap;
  const int descriptor = hpcrun::open_perf_event(request);
  if (descriptor < 0) return -descriptor;
  close(descriptor);
  return 0;
}

PerfTrials try_perf() {
  const hpcrun::PerfRequest clock;
  PerfTrials trials;
  trials.cpu_clock = try_event(clock.type, clock.config, false, false);
  trials.cpu_clock_user = try_event(clock.type, clock.config, true, false);
  trials.cycles = try_event(kHardwareEvents, kCycles, true, false);
  trials.sigtrap = probe_trigger().trigger == hpcrun::Trigger::Sigtrap;
  return trials;
}

Limit limit_of(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return {};
  const auto value = [](rlim_t given) { return given == RLIM_INFINITY ? kUnlimited : uint64_t{given}; };
  return {value(limit.rlim_cur), value(limit.rlim_max)};
}

// Returns the type of the mount that contains the path: the longest mount point that is a prefix of it.
std::string file_system_of(const fs::path& path) {
  std::ifstream mounts("/proc/self/mounts");
  std::string type;
  size_t longest = 0;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, point, name;
    words >> device >> point >> name;
    const bool is_above = point == "/" || path == point || path.string().starts_with(point + "/");
    if (is_above && point.size() >= longest) longest = point.size(), type = name;
  }
  return type;
}

Disk disk_of(const fs::path& directory) {
  Disk disk;
  struct statvfs space {};
  if (statvfs(directory.c_str(), &space) == 0) disk.free_bytes = uint64_t{space.f_bavail} * space.f_frsize;
  disk.writable = access(directory.c_str(), W_OK | X_OK) == 0;
  disk.file_system = file_system_of(directory);
  return disk;
}

}  // namespace

std::optional<std::string> Machine::status_field(std::string_view name) const {
  std::istringstream lines(text("/proc/self/status").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    const size_t from = line.find_first_not_of(" \t", name.size() + 1);
    return from == line.npos ? "" : line.substr(from);
  }
  return std::nullopt;
}

bool Machine::has_capability(int number) const {
  const std::string set = status_field("CapEff").value_or("");
  uint64_t bits = 0;
  const auto [at, error] = std::from_chars(set.data(), set.data() + set.size(), bits, 16);
  return error == std::errc{} && (bits >> number & 1) != 0;
}

Machine this_machine() {
  Machine machine;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals != text.npos) machine.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  utsname names{};
  if (uname(&names) == 0) machine.kernel = names.release;
  machine.user = geteuid();
  machine.descriptors = limit_of(RLIMIT_NOFILE);
  machine.locked_memory = limit_of(RLIMIT_MEMLOCK);
  machine.pending_signals = limit_of(RLIMIT_SIGPENDING);
  machine.perf = try_perf();
  std::error_code error;
  machine.directory = fs::current_path(error);
  machine.disk = disk_of(machine.directory);
  try {
    find_runtime_library();
  } catch (const CommandError& missing) {
    machine.runtime_problem = missing.what();
  }
  return machine;
}

}  // namespace prof

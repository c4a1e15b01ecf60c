#include "prof/launch/measured_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <utility>

#include "analysis/files/folder.h"
#include "hpcrun/measurement/format.h"
#include "hpcrun/measurement/pause.h"
#include "hpcrun/measurement/regular_file.h"
#include "hpcrun/measurement/stored_file.h"
#include "hpcrun/sample/perf_event.h"
#include "prof/base/message.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// A line of /proc/PID/maps that names a file.
struct Mapping {
  dev_t device = 0;
  ino_t inode = 0;
  std::string path;
};

template <typename Use>
void for_each_mapping(int pid, Use use) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned long inode = 0;
    int path = 0;
    if (std::sscanf(line.c_str(), "%*s %*s %*s %x:%x %lu %n", &major, &minor, &inode, &path) != 3) continue;
    if (inode != 0 && use(Mapping{makedev(major, minor), inode, line.substr(static_cast<size_t>(path))}))
      return;
  }
}

// True if the process has the file mapped. A pid may be reused once its process is gone, but not the mapping.
bool has_mapped(int pid, const struct stat& file) {
  bool found = false;
  for_each_mapping(pid, [&](const Mapping& mapping) {
    found = mapping.device == file.st_dev && mapping.inode == file.st_ino;
    return found;
  });
  return found;
}

bool is_measurement_header(const hpcrun::FileHeader& header) {
  return std::memcmp(header.magic, hpcrun::kFileMagic, sizeof header.magic) == 0 &&
         header.major == hpcrun::kFormatMajor && header.counters_offset == hpcrun::kCountersOffset;
}

// Applies a function to our copies of all perf events of a process. Returns false if the events cannot be
// reached.
template <typename Function>
bool for_each_perf_event(int pid, Function function) {
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return false;
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  std::error_code error;
  bool reached = true;
  fs::directory_iterator entries(folder, error);
  if (error) reached = false;
  for (const fs::directory_entry& entry : entries) {
    if (fs::read_symlink(entry.path(), error).string() != "anon_inode:[perf_event]") continue;
    const int number = std::atoi(entry.path().filename().c_str());
    const auto copy = static_cast<int>(syscall(SYS_pidfd_getfd, process, number, 0));
    if (copy < 0) {
      reached = reached && errno != EPERM && errno != ENOSYS;
      continue;
    }
    function(copy);
    close(copy);
  }
  close(process);
  return reached;
}

// Returns the process that a file has the measurements of; 0 if it has none.
int process_of_file(const fs::path& path) {
  hpcrun::FileHeader header{};
  const std::string bytes = beginning_of(path, sizeof header);
  if (bytes.size() != sizeof header) return 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  return is_measurement_header(header) ? header.pid : 0;
}

}  // namespace

RunningProcess::RunningProcess(const fs::path& file) {
  const RegularFile opened(file, O_RDWR);
  if (!opened.is_open()) return;
  const struct stat& status = opened.status();
  void* page = MAP_FAILED;
  if (opened.size() >= hpcrun::kPageBytes)
    page = mmap(nullptr, hpcrun::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened.descriptor(), 0);
  if (page == MAP_FAILED) return;
  page_ = page;
  const auto& header = *static_cast<const hpcrun::FileHeader*>(page);
  pid_ = header.pid;
  const bool is_measurement = is_measurement_header(header);
  has_ended_ = is_measurement && counters()[static_cast<size_t>(hpcrun::Counter::EndMonotonicNs)].load() != 0;
  if (is_measurement && !has_ended_ && has_mapped(measured_by() ? measured_by() : pid_, status)) return;
  if (is_measurement && !measured_by() && kill(pid_, 0) != 0 && errno == ESRCH) has_ended_ = true;
  munmap(page, hpcrun::kPageBytes);
  page_ = nullptr;
}

RunningProcess::~RunningProcess() {
  if (page_) munmap(page_, hpcrun::kPageBytes);
}

RunningProcess::RunningProcess(RunningProcess&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)), pid_(other.pid_), has_ended_(other.has_ended_) {}

RunningProcess& RunningProcess::operator=(RunningProcess&& other) noexcept {
  std::swap(page_, other.page_);
  std::swap(pid_, other.pid_);
  std::swap(has_ended_, other.has_ended_);
  return *this;
}

std::atomic<uint64_t>* RunningProcess::counters() const {
  return reinterpret_cast<std::atomic<uint64_t>*>(static_cast<char*>(page_) + hpcrun::kCountersOffset);
}

int RunningProcess::measured_by() const {
  return static_cast<int>(counters()[static_cast<size_t>(hpcrun::Counter::MeasuredBy)].load());
}

bool RunningProcess::is_running() const {
  const bool ended = counters()[static_cast<size_t>(hpcrun::Counter::EndMonotonicNs)].load() != 0;
  return !ended && (kill(pid_, 0) == 0 || errno == EPERM);
}

bool RunningProcess::is_paused() const {
  return hpcrun::PauseSwitch(counters()).is_paused();
}

bool RunningProcess::pause() {
  hpcrun::PauseSwitch(counters()).pause(monotonic_ns());
  return switch_events(false);
}

bool RunningProcess::resume() {
  hpcrun::PauseSwitch(counters()).resume(monotonic_ns());
  return switch_events(true);
}

bool RunningProcess::switch_events(bool on) {
  return measured_by() ||
         for_each_perf_event(pid_, on ? hpcrun::enable_perf_event : hpcrun::disable_perf_event);
}

std::vector<fs::path> files_of_running(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() != ".prof") continue;
    if (const RunningProcess process(entry.path()); process.is_valid() && process.is_running())
      files.push_back(entry.path());
  }
  return files;
}

namespace {

// Returns the measurement file of a process among the files that a process has mapped.
fs::path mapped_file_of(int pid, int mapped_by) {
  fs::path found;
  for_each_mapping(mapped_by, [&](const Mapping& mapping) {
    const fs::path path = mapping.path;
    if (path.extension() != ".prof") return false;
    for (const fs::path& seen : {path, fs::path(fmt::format("/proc/{}/root{}", mapped_by, mapping.path))})
      if (found.empty() && process_of_file(seen) == pid) found = seen;
    return !found.empty();
  });
  return found;
}

bool is_prof(const fs::path& process) {
  std::string name;
  return std::getline(std::ifstream(process / "comm"), name) && name == "prof";
}

}  // namespace

fs::path file_of_process(int pid) {
  fs::path found = mapped_file_of(pid, pid);
  std::error_code error;
  fs::directory_iterator entries("/proc", error);
  if (error) return found;
  for (const fs::directory_entry& entry : entries) {
    if (!found.empty()) break;
    if (const int other = std::atoi(entry.path().filename().c_str()); other > 0 && is_prof(entry.path()))
      found = mapped_file_of(pid, other);
  }
  return found;
}

void pause_run(const fs::path& directory) {
  start_paused(directory);  // first, so that processes that start now are included
  for (const fs::path& file : files_of_running(directory)) RunningProcess(file).pause();
}

void resume_run(const fs::path& directory) {
  remove_own(directory / hpcrun::kPausedMarker);
  for (const fs::path& file : files_of_running(directory)) RunningProcess(file).resume();
}

namespace {

void make_empty_file(const fs::path& marker) {
  try {
    write_own_file(marker, "");
  } catch (const WriteError& error) {
    fail(kOwnFailure, "cannot write {}: {}", marker.string(), error.code().message());
  }
}

}  // namespace

void mark_attached(const fs::path& directory) {
  make_empty_file(directory / kAttachedMarker);
}

void start_paused(const fs::path& directory) {
  make_empty_file(directory / hpcrun::kPausedMarker);
}

}  // namespace prof

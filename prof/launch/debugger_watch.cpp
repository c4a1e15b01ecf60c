#include "prof/launch/debugger_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "prof/base/message.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// A debugger reads symbols for longer than this before its user can continue the program.
constexpr std::chrono::milliseconds kInterval{100};
// By then the process that created a new file has mapped it, and the directory's modification time has
// advanced.
constexpr int64_t kSettlingNs = 1'000'000'000;

int64_t in_ns(const timespec& time) {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Most users may have 1,024, and prof needs others.
constexpr int kMaxDescriptors = 512;

int open_status(int pid) {
  return open(fmt::format("/proc/{}/status", pid).c_str(), O_RDONLY | O_CLOEXEC);
}

bool is_strace(int pid) {
  char name[16] = "";
  const int descriptor = open(fmt::format("/proc/{}/comm", pid).c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t length = descriptor < 0 ? 0 : read(descriptor, name, sizeof name);
  if (descriptor >= 0) close(descriptor);
  return std::string_view(name, static_cast<size_t>(std::max<ssize_t>(length, 0))) == "strace\n";
}

}  // namespace

DebuggerWatch::StatusFile::StatusFile(int pid) : pid_(pid), descriptor_(open_status(pid)) {
  if (descriptor_ < kMaxDescriptors) return;
  close(descriptor_);
  descriptor_ = -1;
}

DebuggerWatch::StatusFile::~StatusFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

DebuggerWatch::StatusFile& DebuggerWatch::StatusFile::operator=(StatusFile&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

int DebuggerWatch::StatusFile::tracer() const {
  const int descriptor = descriptor_ >= 0 ? descriptor_ : open_status(pid_);
  if (descriptor < 0) return errno == ENOENT ? -1 : 0;
  char text[2048];
  const ssize_t length = pread(descriptor, text, sizeof text, 0);
  if (descriptor != descriptor_) close(descriptor);
  if (length <= 0) return -1;
  const std::string_view status(text, static_cast<size_t>(length));
  constexpr std::string_view kField = "\nTracerPid:\t";
  const size_t at = status.find(kField);
  int tracer = 0;
  if (at != status.npos) std::from_chars(text + at + kField.size(), text + length, tracer);
  return tracer;
}

DebuggerWatch::DebuggerWatch(const fs::path& directory, std::string file_prefix)
    : directory_(directory), file_prefix_(std::move(file_prefix)), thread_([this] { watch(); }) {}

DebuggerWatch::~DebuggerWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  thread_.join();
}

void DebuggerWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, kInterval, [this] { return stopping_; })) {
    look_for_files();
    look_at_processes();
  }
}

void DebuggerWatch::look_for_files() {
  struct stat directory {};
  timespec now{};
  if (stat(directory_.c_str(), &directory) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) return;
  const int64_t changed_ns = in_ns(directory.st_mtim);
  const bool is_settled = in_ns(now) - changed_ns > kSettlingNs;
  if (changed_ns == changed_ns_ && !has_unsure_ && is_settled == is_settled_) return;
  changed_ns_ = changed_ns;
  is_settled_ = is_settled;
  find_processes();
}

void DebuggerWatch::find_processes() {
  has_unsure_ = false;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_, error)) {
    if (!entry.path().filename().string().starts_with(file_prefix_)) continue;
    if (entry.path().extension() != ".prof" || seen_.contains(entry.path().filename())) continue;
    RunningProcess process(entry.path());
    const bool is_final = process.is_valid() || process.has_ended() || is_settled_;
    has_unsure_ |= !is_final;
    if (!is_final) continue;
    seen_.insert(entry.path().filename());
    if (!process.is_valid()) continue;
    const int pid = process.pid();
    watched_.insert_or_assign(pid, Watched(std::move(process)));
  }
}

void DebuggerWatch::look_at_processes() {
  for (auto at = watched_.begin(); at != watched_.end();) {
    auto& [pid, watched] = *at;
    const int tracer = watched.status.tracer();
    if (tracer < 0) {
      at = watched_.erase(at);
      continue;
    }
    const bool debugged = tracer > 0 && !is_strace(tracer);
    if (debugged && !watched.debugged)
      say("process {} is being debugged and is not sampled until the debugger detaches", pid);
    watched.debugged = debugged;
    // Also if the process that paused measuring cannot reach the events.
    const bool rests = debugged || watched.process.is_paused();
    if (rests != watched.rests) watched.process.switch_events(!rests);
    watched.rests = rests;
    ++at;
  }
}

}  // namespace prof

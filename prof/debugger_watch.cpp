#include "prof/debugger_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "prof/message.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// A debugger reads symbols for longer than this before its user can continue the program.
constexpr std::chrono::milliseconds kInterval{100};
constexpr std::chrono::seconds kSettling{1};

// The beginning of a file of /proc. By system calls alone: it is read ten times a second beside a program whose processors it
// takes.
std::string beginning_of(const std::string& path) {
  std::string text(2048, '\0');
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t length = descriptor < 0 ? 0 : read(descriptor, text.data(), text.size());
  if (descriptor >= 0) close(descriptor);
  text.resize(static_cast<size_t>(std::max<ssize_t>(length, 0)));
  return text;
}

bool is_debugged(int pid) {
  const std::string status = beginning_of(fmt::format("/proc/{}/status", pid));
  constexpr std::string_view kField = "\nTracerPid:\t";
  const size_t at = status.find(kField);
  if (at == std::string::npos) return false;
  int tracer = 0;
  std::from_chars(status.data() + at + kField.size(), status.data() + status.size(), tracer);
  return tracer != 0 && beginning_of(fmt::format("/proc/{}/comm", tracer)) != "strace\n";
}

}  // namespace

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
    find_processes();
    look_at_processes();
  }
}

void DebuggerWatch::find_processes() {
  std::error_code error;
  const fs::file_time_type changed = fs::last_write_time(directory_, error);
  if (error || changed == listed_) return;
  const fs::file_time_type now = fs::file_time_type::clock::now();
  // A file that was just created may not be mapped yet: it is looked at again.
  const bool is_settled = now - changed > kSettling;
  if (is_settled) listed_ = changed;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_, error)) {
    if (!entry.path().filename().string().starts_with(file_prefix_)) continue;
    if (entry.path().extension() != ".prof" || seen_.contains(entry.path().filename())) continue;
    RunningProcess process(entry.path());
    if (!process.is_valid() && !is_settled) continue;
    seen_.insert(entry.path().filename());
    if (!process.is_valid()) continue;
    const int pid = process.pid();
    watched_.insert_or_assign(pid, Watched(std::move(process)));
  }
}

void DebuggerWatch::look_at_processes() {
  for (auto at = watched_.begin(); at != watched_.end();) {
    auto& [pid, watched] = *at;
    if (!watched.process.is_running()) {
      at = watched_.erase(at);
      continue;
    }
    const bool debugged = is_debugged(pid);
    if (debugged && !watched.debugged)
      say("process {} is being debugged: not sampled until the debugger leaves", pid);
    watched.debugged = debugged;
    // Also where whoever paused may not reach the events.
    const bool rests = debugged || watched.process.is_paused();
    if (rests != watched.rests) watched.process.switch_events(!rests);
    watched.rests = rests;
    ++at;
  }
}

}  // namespace prof

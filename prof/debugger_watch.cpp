#include "prof/debugger_watch.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>

#include "hpcrun/sample/perf_event.h"
#include "prof/message.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// A debugger reads symbols for longer than this before its user can continue the program.
constexpr std::chrono::milliseconds kInterval{100};

int number_of(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// <host>-<rank>-<pid>-<n>.prof
int pid_of(const fs::path& file) {
  const std::string name = file.stem().string();
  const size_t last = name.rfind('-');
  if (last == std::string::npos || last == 0) return 0;
  const size_t before = name.rfind('-', last - 1);
  return before == std::string::npos ? 0 : number_of(name.substr(before + 1, last - before - 1));
}

bool is_debugged(int pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  constexpr std::string_view kField = "TracerPid:\t";
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, kField.size(), kField) != 0) continue;
    const int tracer = number_of(line.substr(kField.size()));
    if (tracer == 0) return false;
    std::string name;
    std::ifstream(fmt::format("/proc/{}/comm", tracer)) >> name;
    return name != "strace";
  }
  return false;
}

// Applies a function to our copies of all perf events of a process.
template <typename Function>
void for_each_perf_event(int pid, Function function) {
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return;
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (fs::read_symlink(entry.path(), error).string() != "anon_inode:[perf_event]") continue;
    const auto copy =
        static_cast<int>(syscall(SYS_pidfd_getfd, process, number_of(entry.path().filename().string()), 0));
    if (copy < 0) continue;
    function(copy);
    close(copy);
  }
  close(process);
}

}  // namespace

DebuggerWatch::DebuggerWatch(const fs::path& directory)
    : directory_(directory), thread_([this] { watch(); }) {}

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
  listed_ = changed;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_, error))
    if (const int pid = pid_of(entry.path()); pid > 0 && kill(pid, 0) == 0) traced_.try_emplace(pid, false);
}

void DebuggerWatch::look_at_processes() {
  for (auto at = traced_.begin(); at != traced_.end();) {
    auto& [pid, was_traced] = *at;
    if (kill(pid, 0) != 0) {
      at = traced_.erase(at);
      continue;
    }
    const bool traced = is_debugged(pid);
    if (traced && !was_traced) {
      for_each_perf_event(pid, hpcrun::disable_perf_event);
      say("process {} is being debugged: not sampled until the debugger leaves", pid);
    } else if (!traced && was_traced) {
      for_each_perf_event(pid, hpcrun::enable_perf_event);
    }
    was_traced = traced;
    ++at;
  }
}

}  // namespace prof

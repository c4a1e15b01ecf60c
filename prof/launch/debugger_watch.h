#pragma once
// Keeps samples out of debuggers: a SIGTRAP that perf raises would stop a debugged program every millisecond.
// The program itself cannot know in time, so `prof` watches from outside, and switches a process's perf
// events off while it is traced (by anything but strace, which passes signals on) and on again afterwards.
// The same while measuring is paused, for who paused it and may not reach the events.

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "prof/launch/measured_process.h"

namespace prof {

class DebuggerWatch {
 public:
  // Watches the processes that leave measurement files in the directory whose names begin with `file_prefix`,
  // until destroyed. Ten looks a second at each /proc/PID/status, by one system call: they take processor
  // time from the programs, and that with cold caches. Does nothing where the kernel forbids it (no
  // pidfd_getfd before Linux 5.6).
  explicit DebuggerWatch(const std::filesystem::path& directory, std::string file_prefix = {});
  ~DebuggerWatch();
  DebuggerWatch(const DebuggerWatch&) = delete;
  DebuggerWatch& operator=(const DebuggerWatch&) = delete;

 private:
  class StatusFile {
   public:
    explicit StatusFile(int pid);
    ~StatusFile();
    StatusFile(StatusFile&& other) noexcept
        : pid_(other.pid_), descriptor_(std::exchange(other.descriptor_, -1)) {}
    StatusFile& operator=(StatusFile&& other) noexcept;
    // 0: of none; -1: there is no such process any more.
    int tracer() const;

   private:
    int pid_;
    int descriptor_;  // -1: opened anew at each look
  };

  struct Watched {
    explicit Watched(RunningProcess measured) : process(std::move(measured)), status(process.pid()) {}
    RunningProcess process;
    StatusFile status;
    bool debugged = false;
    bool rests = false;  // its perf events were switched off from here
  };

  void watch();
  void look_for_files();
  void find_processes();
  void look_at_processes();

  std::filesystem::path directory_;
  std::string file_prefix_;
  int64_t changed_ns_ = 0;                // when the directory was, as of the last list
  bool is_settled_ = false;               // it was listed a while after that
  bool has_unsure_ = false;               // files in it that may come to be a running process's
  std::map<int, Watched> watched_;        // by pid
  std::set<std::filesystem::path> seen_;  // files that need no second look
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace prof

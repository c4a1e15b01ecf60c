#pragma once
// Keeps samples out of debuggers: a SIGTRAP raised by perf would stop a debugged program every millisecond.
// The program itself cannot notice a debugger in time, so `prof` watches from outside. It disables a
// process's perf events while the process is traced, and enables them again afterwards. strace is an
// exception, because it passes signals on. The events are also disabled while measuring is paused, because
// the process that paused it may not be able to reach them.

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
  // Watches processes until destroyed: those whose measurement files in the directory have names that begin
  // with `file_prefix`. Each /proc/PID/status is read ten times a second with one system call, because each
  // read takes processor time from the programs, with cold caches. Does nothing if the kernel forbids it (no
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
    // Returns the tracer's pid; 0 if there is none, -1 if the process is gone.
    int tracer() const;

   private:
    int pid_;
    int descriptor_;  // -1: opened anew at each read
  };

  struct Watched {
    explicit Watched(RunningProcess measured) : process(std::move(measured)), status(process.pid()) {}
    RunningProcess process;
    StatusFile status;
    bool debugged = false;
    bool rests = false;  // its perf events were disabled by this object
  };

  void watch();
  void look_for_files();
  void find_processes();
  void look_at_processes();

  std::filesystem::path directory_;
  std::string file_prefix_;
  int64_t changed_ns_ = 0;                // when the directory last changed, at the last listing
  bool is_settled_ = false;               // it was listed some time after that
  bool has_unsure_ = false;               // some files may still become those of a running process
  std::map<int, Watched> watched_;        // by pid
  std::set<std::filesystem::path> seen_;  // files that need not be examined again
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace prof

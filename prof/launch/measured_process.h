#pragma once
// Processes that are being measured, controlled from another process: through the measurement file that each
// has mapped, and through copies of its perf events.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace prof {

// A process and the counters of its measurement file. Movable. Does not close anything of the process's.
class RunningProcess {
 public:
  // Invalid unless a running process has the file mapped: the process that is measured, or a `prof` that
  // measures it from outside.
  explicit RunningProcess(const std::filesystem::path& file);
  ~RunningProcess();
  RunningProcess(RunningProcess&& other) noexcept;
  RunningProcess& operator=(RunningProcess&& other) noexcept;

  bool is_valid() const { return page_ != nullptr; }
  // True if the process of the file has ended, so that this object will never become valid.
  bool has_ended() const { return has_ended_; }
  int pid() const { return pid_; }
  bool is_running() const;
  bool is_paused() const;

  // Pause or resume measuring, for all threads. A process that is sampled from outside has no events of its
  // own; `prof` discards its samples. Return false if the process's perf events cannot be reached: its
  // samples are then discarded instead of not taken.
  bool pause();
  bool resume();

  // Enables or disables the perf events. Returns false if they cannot be reached.
  bool switch_events(bool on);

 private:
  std::atomic<uint64_t>* counters() const;
  int measured_by() const;  // pid; 0: by itself

  void* page_ = nullptr;
  int pid_ = 0;
  bool has_ended_ = false;
};

// Returns the measurement files in a directory whose processes run.
std::vector<std::filesystem::path> files_of_running(const std::filesystem::path& directory);

// Returns the measurement file of a running process; empty if the process is not measured, or this user may
// not examine it.
std::filesystem::path file_of_process(int pid);

// Pause or resume all processes of a run; a marker file does the same for those that start later.
void pause_run(const std::filesystem::path& directory);
void resume_run(const std::filesystem::path& directory);

// The name of a marker in a directory with measurements by `prof attach`.
constexpr char kAttachedMarker[] = "attached";
void mark_attached(const std::filesystem::path& directory);

// Has processes of the run start paused from now on.
void start_paused(const std::filesystem::path& directory);

}  // namespace prof

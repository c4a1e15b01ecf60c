#pragma once
// Processes that are being measured, seen from outside: through the measurement file that each has mapped,
// and through copies of its perf events.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace prof {

// A process and the counters of its measurement file. Movable; closes nothing of the process's.
class RunningProcess {
 public:
  // Invalid where the file is none of a process that runs and has it mapped, or that a `prof` measures from
  // outside which has it mapped.
  explicit RunningProcess(const std::filesystem::path& file);
  ~RunningProcess();
  RunningProcess(RunningProcess&& other) noexcept;
  RunningProcess& operator=(RunningProcess&& other) noexcept;

  bool is_valid() const { return page_ != nullptr; }
  // True if the file is that of a process that has ended: it will not become valid.
  bool has_ended() const { return has_ended_; }
  int pid() const { return pid_; }
  bool is_running() const;
  bool is_paused() const;

  // Measuring pauses or goes on, for all threads. What is sampled from outside has no events of its own:
  // `prof` throws its samples away. False where the process's perf events cannot be reached: its samples are
  // then thrown away instead of not taken.
  bool pause();
  bool resume();

  // Switches the perf events on or off; false where they cannot be reached.
  bool switch_events(bool on);

 private:
  std::atomic<uint64_t>* counters() const;
  int measured_by() const;  // pid; 0: by itself

  void* page_ = nullptr;
  int pid_ = 0;
  bool has_ended_ = false;
};

// The measurement files in a directory of processes that run.
std::vector<std::filesystem::path> files_of_running(const std::filesystem::path& directory);

// The measurement file of a running process; empty where it is not measured, or where this user may not know.
std::filesystem::path file_of_process(int pid);

// All processes of a run, and with the marker those that it starts later.
void pause_run(const std::filesystem::path& directory);
void resume_run(const std::filesystem::path& directory);

// In a directory whose measurements come from processes that `prof attach` met.
constexpr char kAttachedMarker[] = "attached";
void mark_attached(const std::filesystem::path& directory);

// Processes of the run start paused from now on.
void start_paused(const std::filesystem::path& directory);

}  // namespace prof

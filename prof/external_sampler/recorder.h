#pragma once
// Turns the records of events.h into measurement files, one for each process and exec that is sampled from
// outside. The files have the runtime's format. A process that maps the runtime is left to the runtime,
// except for Go programs, which the runtime does not sample. Used by one thread.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hpcrun/guest/program_file.h"
#include "hpcrun/sample/config.h"
#include "prof/external_sampler/pauses.h"
#include "prof/external_sampler/record.h"
#include "prof/external_sampler/walk.h"

namespace prof {

struct OutsidePlan {
  std::filesystem::path directory;  // for measurement files
  std::vector<hpcrun::EventSpec> events;
  bool trace = false;
  bool samples_kernel = true;
  std::string command;  // of the program that is run, in case it ends before it is examined
  std::string refusal;  // why nothing is sampled; empty: every process that requests it
  // Variables with which the program was launched (RankPart), for its measurement file.
  std::vector<std::pair<std::string, std::string>> launch_variables;
  bool contention = false;  // was requested, but does not work from outside
  bool waste = false;       // likewise: wasted stores and loads
};

class OutsideRecorder {
 public:
  explicit OutsideRecorder(OutsidePlan plan);
  ~OutsideRecorder();

  // Assigns samples of the kernel's event `id` to the event with this index in the plan.
  void name_event(uint64_t id, uint32_t event) { events_[id] = event; }

  // Sets whether the events may count time in the kernel.
  void set_samples_kernel(bool samples_kernel) { plan_.samples_kernel = samples_kernel; }

  // Reads what is slow to read before the program runs.
  void prepare(const std::string& program) { image(program); }

  // True if there was any record of this process.
  bool knows(int pid) const { return processes_.contains(pid); }

  // Leaves a file with the reason why a process is not measured.
  void note_unmeasured(int pid, const std::string& why);

  // Checks if the run was paused or resumed. Must be called often.
  void observe_pause();

  // Processes a record. Records must come in the order of their times.
  void take(PerfRecord record);

  // Adds the CPU time of all this since the last call, and memory of prof's.
  void account(uint64_t cpu_ns, uint64_t bytes);

  // Closes all files. Processes that still run are not measured any more.
  void finish(uint64_t now_ns);

 private:
  struct Thread;
  struct Process;

  Process& process_of(const PerfRecord& record);
  Thread& thread_of(Process& process, const PerfRecord& record);
  void rename(Process& process, const PerfRecord& record);
  void start_image(const PerfRecord& record);
  void map(const PerfRecord& record);
  void fork(const PerfRecord& record);
  void exit(const PerfRecord& record);
  void sample(PerfRecord record);
  void record_sample(Process& process, Thread& thread, const PerfRecord& record, uint64_t weight,
                     uint64_t cpu_ns);
  uint64_t weight_of(Thread& thread, const PerfRecord& record, uint64_t cpu_ns) const;
  bool is_paused(Process& process, Thread& thread, const PerfRecord& record, uint64_t cpu_ns);
  void settle(Process& process, bool ours);
  void start_paused(Process& process);
  bool create_file(Process& process);
  bool open_file(Process& process);
  void note_devices(Process& process);
  bool open_thread(Process& process, Thread& thread);
  void announce_modules(Process& process);
  void close_thread(Process& process, Thread& thread, uint64_t now_ns);
  void close_file(Process& process, uint64_t now_ns);
  std::shared_ptr<const Image> image(const std::string& path);

  OutsidePlan plan_;
  RunPause run_pause_;
  std::unordered_map<uint64_t, uint32_t> events_;
  std::unordered_map<std::string, std::shared_ptr<const Image>> images_;
  std::map<int, std::unique_ptr<Process>> processes_;
  int last_sampled_ = 0;  // pid
  bool warned_ = false;
};

}  // namespace prof

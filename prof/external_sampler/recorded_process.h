#pragma once
// The recorder's data on a process and its threads. For recorder.cpp, which processes perf records, and
// recorded_files.cpp, which writes measurement files.

#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpcrun/cct/cct.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/guest/program_file.h"
#include "hpcrun/measurement/thread_name.h"
#include "hpcrun/measurement/writer.h"
#include "prof/external_sampler/recorder.h"

namespace prof {

enum class Owner : uint8_t { Undecided, Ours, Runtime };

inline uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

struct OutsideRecorder::Thread {
  // Created at the first sample.
  struct Recording {
    hpcrun::Arena arena;
    hpcrun::CallingContextTree tree;
    hpcrun::Trace trace;
  };

  int tid = 0;
  uint32_t index = 0;
  std::string name;
  uint64_t start_ns = 0;
  uint64_t cpu_ns = 0;                    // until it was last switched out
  std::optional<uint64_t> running_since;  // while it is switched in
  uint64_t sampled_cpu_ns = 0;            // at its last sample of the CPU clock
  uint64_t trace_ns = 0;                  // at the last record of its trace
  uint64_t trace_cpu_ns = 0;
  bool trace_rests = false;  // a gap is recorded since a pause began
  bool announced = false;
  hpcrun::ThreadName written_name;  // once it is recorded
  std::unique_ptr<Recording> recording;

  uint64_t cpu_at(uint64_t now_ns) const {
    return cpu_ns + (running_since && now_ns > *running_since ? now_ns - *running_since : 0);
  }
};

struct OutsideRecorder::Process {
  struct HeldSample {
    PerfRecord record;
    uint64_t weight, cpu_ns;
  };

  int pid = 0;
  int parent_pid = 0;
  uint64_t start_ns = 0;
  std::string program;  // path of the first mapping after exec
  std::string loader;   // of the first other file
  hpcrun::ProgramKind kind = hpcrun::ProgramKind::Unreadable;
  Owner owner = Owner::Undecided;
  AddressSpace space;
  uint16_t module_count = 0;
  bool has_device_library = false;  // OpenCL's or CUDA's
  std::map<int, std::unique_ptr<Thread>> threads;
  uint32_t thread_count = 0;
  std::vector<HeldSample> held;  // until the owner is known
  std::unique_ptr<hpcrun::MeasurementFile> file;
  ProcessPauses pauses;
};

}  // namespace prof

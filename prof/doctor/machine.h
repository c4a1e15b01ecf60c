#pragma once
// The machine as the doctor's checks see it: files below a root, the environment, limits, and what was tried.
// Tests make one of their own from a folder; this_machine() is the real one.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "prof/base/machine_files.h"

namespace prof {

constexpr uint64_t kUnlimited = ~uint64_t{0};

struct Limit {
  uint64_t soft = kUnlimited;
  uint64_t hard = kUnlimited;
};

// What came of opening events: 0, or an errno.
struct PerfTrials {
  int cpu_clock = 0;       // perf's CPU clock, kernel included
  int cpu_clock_user = 0;  // the same, user code only
  int cycles = 0;          // a hardware event, user code only
  bool sigtrap = true;     // its signal was raised, and arrived
};

struct Disk {
  uint64_t free_bytes = 0;
  std::string file_system;  // "ext4", "nfs"; empty where it is not known
  bool writable = true;
};

struct Machine : MachineFiles {
  std::string kernel;  // release, "6.1.0-18-amd64"
  uint32_t user = 0;   // effective
  Limit descriptors;
  Limit locked_memory;    // bytes
  Limit pending_signals;  // RLIMIT_SIGPENDING
  PerfTrials perf;
  std::filesystem::path directory;  // where measurements would go
  Disk disk;                        // of that directory
  std::string runtime_problem;      // why libhpcrun.so was not found; empty when it was

  // The value behind "Name:" in /proc/self/status.
  std::optional<std::string> status_field(std::string_view name) const;
  bool has_capability(int number) const;  // in the effective set; 38 is CAP_PERFMON
};

// Tries perf events in a child process. Never fails: what cannot be found out is absent.
Machine this_machine();

}  // namespace prof

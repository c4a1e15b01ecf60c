#pragma once
// The machine that the doctor's checks examine: files below a root, the environment, limits, and the results
// of trials. Tests make a synthetic one from a folder; this_machine() returns the real one.

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

// Results of opening events: 0, or an errno.
struct PerfTrials {
  int cpu_clock = 0;       // perf's CPU clock, kernel included
  int cpu_clock_user = 0;  // the same, user code only
  int cycles = 0;          // a hardware event, user code only
  bool sigtrap = true;     // its signal was raised and delivered
};

struct Disk {
  uint64_t free_bytes = 0;
  std::string file_system;  // "ext4", "nfs"; empty if not known
  bool writable = true;
};

struct Machine : MachineFiles {
  std::string kernel;  // release, "6.1.0-18-amd64"
  uint32_t user = 0;   // effective
  Limit descriptors;
  Limit locked_memory;    // bytes
  Limit pending_signals;  // RLIMIT_SIGPENDING
  PerfTrials perf;
  std::filesystem::path directory;  // where measurements would be written
  Disk disk;                        // the disk of that directory
  std::string runtime_problem;      // why libprof-runtime.so was not found; empty if it was

  // Returns the value after "Name:" in /proc/self/status.
  std::optional<std::string> status_field(std::string_view name) const;
  bool has_capability(int number) const;  // in the effective set; 38 is CAP_PERFMON
};

// Returns this machine. Tries perf events in a child process. Never fails: what cannot be determined is
// absent.
Machine this_machine();

}  // namespace prof

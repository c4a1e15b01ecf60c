#pragma once
// kLaunchFile in a directory that many ranks share, while they run: the rank that made the directory says in
// it whose it is, and the others wait for it (rank_part.h).

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "analysis/pipeline/stored_files.h"
#include "prof/ranks/clock_exchange.h"

namespace prof {

struct LaunchRecord {
  std::string launch;  // ParallelJob::launch
  int size = 0;
  std::string ranks;      // as --ranks has them, "all" without
  bool all_ranks = true;  // have this directory; else those of a node
  uint64_t token = 0;     // of the launch; 0: another prof wrote it
  ClockAddress clock;     // of who wrote it
  // Who wrote it, and when; empty and 0 where another prof did.
  std::string host;
  int pid = 0;
  std::chrono::system_clock::time_point written;
};

// Nothing where there is none, or what is there is none or not whole yet.
std::optional<LaunchRecord> launch_record(const std::filesystem::path& directory);

// Writes it, with host, pid and time. Of launches that do so at a time one is the first: false for the
// others, whose record is not written. Throws CommandError (125) where it cannot be written.
bool create_launch_record(const std::filesystem::path& directory, LaunchRecord record);

// True where the process that wrote it was one of this node and is no more: the launch was killed.
bool is_abandoned(const LaunchRecord& record);

// Throws CommandError (125), with one line that says whose the directory is that somebody wanted, and what to
// do.
[[noreturn]] void refuse_launch_of_others(const std::filesystem::path& directory, const LaunchRecord& others);

}  // namespace prof

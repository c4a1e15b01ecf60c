#pragma once
// kLaunchFile in a directory that many ranks share while they run. The rank that made the directory records
// in it which launch owns the directory. The other ranks wait for it (rank_part.h).

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
  std::string ranks;      // as for --ranks; "all" if not given
  bool all_ranks = true;  // all ranks share this directory; otherwise those of a node
  uint64_t token = 0;     // of the launch; 0: another prof wrote it
  ClockAddress clock;     // of the process that wrote it
  // The process that wrote it, and when; empty and 0 if another prof did.
  std::string host;
  int pid = 0;
  std::chrono::system_clock::time_point written;
};

// Returns nothing if there is no record, or the file is not a complete record.
std::optional<LaunchRecord> launch_record(const std::filesystem::path& directory);

// Writes it, with host, pid and time. If several launches do so at once, one is the first; the others get
// false, and their records are not written. Throws CommandError (125) if it cannot be written.
bool create_launch_record(const std::filesystem::path& directory, LaunchRecord record);

// True if the process that wrote it ran on this node and is gone: the launch was killed.
bool is_abandoned(const LaunchRecord& record);

// Throws CommandError (125) with one line that names the owner of the requested directory, and the remedy.
[[noreturn]] void refuse_launch_of_others(const std::filesystem::path& directory, const LaunchRecord& others);

}  // namespace prof

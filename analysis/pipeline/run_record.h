#pragma once
// DIR/run.json: what `prof run` saw of the program that it started.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace prof {

struct RunRecord {
  std::vector<std::string> command;  // empty: not known
  std::optional<std::string> host;
  std::optional<int64_t> start_s;  // since the epoch
  std::optional<double> wall_s, cpu_s;
  std::optional<int64_t> exit_status;  // as a shell has it
  std::optional<int64_t> signal;       // that killed the program; 0: none did
  std::optional<double> trigger_cost_s;
  std::optional<int64_t> pid, end_monotonic_ns;  // of the program's first process
};

// Never fails: what is missing, of another type or out of any sensible range is not known.
RunRecord read_run_record(const std::filesystem::path& directory);

}  // namespace prof

#pragma once
// DIR/run.json: what `prof run` recorded of the program that it started.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hpcrun/measurement/stored_file.h"

namespace prof {

struct RunRecord {
  std::vector<std::string> command;  // empty if unknown
  std::optional<std::string> host;
  std::optional<int64_t> start_s;  // since the epoch
  std::optional<double> wall_s, cpu_s;
  std::optional<int64_t> exit_status;  // as a shell reports it
  std::optional<int64_t> signal;       // that killed the program; 0 if none did
  std::optional<double> trigger_cost_s;
  std::optional<int64_t> pid, end_monotonic_ns;  // of the program's first process
};

// Returns the rank whose record the file is, by its name; nullopt if it is not a rank's record.
std::optional<int32_t> rank_of_record(const std::filesystem::path& file);

// Returns the records of a parallel program's ranks, such as "run-7.json", sorted by path.
std::vector<StoredFile> rank_records(const std::filesystem::path& directory);

// Returns the files with comparisons of the nodes' clocks (analysis/pipeline/node_clocks.h),
// "clock-<host>.json", sorted by path. Other files of similar names are left out.
std::vector<StoredFile> clock_files(const std::filesystem::path& directory);

// Never fails: a value that is missing, of another type or outside its plausible range is left unset.
RunRecord read_run_record(const std::filesystem::path& directory);

// Reads the given file, which may be a rank's.
RunRecord read_record_file(const std::filesystem::path& file);

struct RankRecord {
  int32_t rank = 0;
  RunRecord record;
};
// Returns the records of all ranks of a directory, sorted by rank.
std::vector<RankRecord> read_rank_records(const std::filesystem::path& directory);

// The records of the launchers of a directory's processes. With many ranks, each has its own file; all are
// read once.
struct DirectoryRecords {
  RunRecord run;
  std::vector<RankRecord> of_ranks;  // by rank

  // Returns the rank's own record if it has one, otherwise the directory's.
  const RunRecord& of(int32_t rank) const;
};
DirectoryRecords read_records(const std::filesystem::path& directory);

}  // namespace prof

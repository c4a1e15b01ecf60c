#pragma once
// DIR/run.json: what `prof run` saw of the program that it started.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hpcrun/measurement/stored_file.h"

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

// The rank that a file has the record of, by its name; nothing where it is none.
std::optional<int32_t> rank_of_record(const std::filesystem::path& file);

// The files in which the ranks of a parallel program have a record each, "run-7.json"; by path.
std::vector<StoredFile> rank_records(const std::filesystem::path& directory);

// What nodes found of their clocks (analysis/pipeline/node_clocks.h), "clock-<host>.json"; by path. Files of
// others are not among them.
std::vector<StoredFile> clock_files(const std::filesystem::path& directory);

// Never fails: what is missing, of another type or out of any sensible range is not known.
RunRecord read_run_record(const std::filesystem::path& directory);

// Of the file itself, which may be a rank's.
RunRecord read_record_file(const std::filesystem::path& file);

struct RankRecord {
  int32_t rank = 0;
  RunRecord record;
};
// Of all ranks of a directory, by rank.
std::vector<RankRecord> read_rank_records(const std::filesystem::path& directory);

// What the launchers of a directory's processes saw: of many ranks each its own. Of ten thousand ranks these
// are as many files, which are read once.
struct DirectoryRecords {
  RunRecord run;
  std::vector<RankRecord> of_ranks;  // by rank

  // The rank's own, or else the directory's.
  const RunRecord& of(int32_t rank) const;
};
DirectoryRecords read_records(const std::filesystem::path& directory);

}  // namespace prof

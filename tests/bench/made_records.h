#pragma once
// Records of ranks and nodes for make_ranks, written next to their measurements as `prof run` does under a
// launcher.

#include <cstdint>
#include <filesystem>
#include <string>

namespace prof::test {

// The clock of a node other than the first: it is behind by up to 20 ms, and loses one part in a million.
struct NodeTime {
  uint64_t start_monotonic_ns = 0;
  uint64_t start_realtime_ns = 0;  // by its own clock
  int64_t behind_ns = 0;           // 0: the first node
};
NodeTime time_of_node(uint32_t node);

// Writes DIRECTORY/run-<rank>.json, or run.json for rank -1, for a rank that ran for `length_ns` and exited
// normally.
void write_rank_record(const std::filesystem::path& directory, int rank, const std::string& command,
                       const std::string& host, const NodeTime& time, uint64_t length_ns);

// Writes DIRECTORY/clock-<host>.json for a node other than the first.
void write_clock(const std::filesystem::path& directory, const std::string& host, const std::string& first,
                 const NodeTime& time, uint64_t length_ns);

}  // namespace prof::test

#pragma once
// Ranks and what they do as sentences name it.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/views/ranks/rank_report.h"
#include "analysis/words/numbers.h"

namespace prof {

// "rank 7 (node n3)", "ranks 0-3 and 9", "node n3 (ranks 8-15)"; nodes are named where there are several.
std::string format_ranks_of(const RankReport& report, const std::vector<uint32_t>& ranks,
                            const std::string& node = {});

// "8 ranks on 2 nodes"
std::string format_ranks_and_nodes(const RankReport& report);

// "solve (solve.cpp:7), called by step (sim.cpp:12)", "MPI_Allreduce, called by step (sim.cpp:12)"
std::string format_rank_location(const CallTree& tree, const RankLocation& location);

// Why nobody is blamed; had_processor is known.
std::string format_lack_of_processors(const RankReport& report);

// "2 s on average, 1.9 s to 2.4 s, deviation 0.1 s, imbalance 20 %"
std::string format_statistics(const RankStatistics& statistics);

}  // namespace prof

#pragma once
// Formats ranks and their activities for sentences.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/views/ranks/rank_report.h"
#include "analysis/words/numbers.h"

namespace prof {

// Returns "rank 7 (node n3)", "ranks 0-3 and 9" or "node n3 (ranks 8-15)". Names nodes if there are several.
std::string format_ranks_of(const RankReport& report, const std::vector<uint32_t>& ranks,
                            const std::string& node = {});

// Returns "8 ranks on 2 nodes".
std::string format_ranks_and_nodes(const RankReport& report);

// Returns "solve (solve.cpp:7), called by step (sim.cpp:12)" or "MPI_Allreduce, called by step (sim.cpp:12)".
std::string format_rank_location(const CallTree& tree, const RankLocation& location);

// Explains why no rank is blamed; had_processor is known.
std::string format_lack_of_processors(const RankReport& report);

// Returns "2 s on average, 1.9 s to 2.4 s, deviation 0.1 s, imbalance 20 %".
std::string format_statistics(const RankStatistics& statistics);

}  // namespace prof

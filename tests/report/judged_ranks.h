#pragma once
// A comparison of ranks with what is found in it.

#include <utility>
#include <vector>

#include "analysis/findings/ranks.h"

namespace prof::test {

struct JudgedRanks : RankReport {
  std::vector<Finding> findings;
};

inline JudgedRanks judged_ranks(const CallTree& tree, const RunSummary& run) {
  RankReport report = rank_report(tree, run);
  std::vector<Finding> findings = rank_findings(tree, report);
  return {std::move(report), std::move(findings)};
}

}  // namespace prof::test

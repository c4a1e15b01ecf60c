#pragma once
// The program that ran and the quality of its measurement, for reports.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns the database's data on its run, with the same data of several processes merged. Missing data are
// derived from the profiles or absent.
RunSummary run_summary(const Database& database);

// Refers to the first metric that is shown. Samples are not counted by thread and metric: selected threads
// get a share of the metric's samples equal to their share of its cost.
Sampling shown_sampling(const CallTree& tree, const RunSummary& run);

// A reason of a drop or an incomplete stack in plain words, and what to do about it (empty if nothing
// helps). Spelling of the reason does not matter ("NoUnwindInfo", "no unwind info"); unknown ones are
// returned as they are. Empty words: the way a complete stack ends.
struct ReasonWords {
  std::string why, advice;
};
ReasonWords format_reason(const std::string& reason);

// True for drops whose time the next sample of the thread counts: nothing is missing from the sums.
bool loses_no_time(const std::string& reason);

// The counts, in falling order, without zeros.
template <typename Key>
std::vector<std::pair<Key, uint64_t>> by_count(const std::map<Key, uint64_t>& counts) {
  std::vector<std::pair<Key, uint64_t>> sorted;
  for (const auto& one : counts)
    if (one.second > 0) sorted.emplace_back(one);
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<Key, uint64_t>::second);
  return sorted;
}

}  // namespace prof

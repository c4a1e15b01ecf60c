#include "prof/export/trace.h"

namespace prof {

bool has_trace(const Database& database, uint32_t profile) {
  return profile < database.traces.size() && database.traces[profile];
}

bool has_trace(const CallTree& tree) {
  const std::vector<uint32_t>& profiles = tree.selection.profiles;
  return std::any_of(profiles.begin(), profiles.end(),
                     [&](uint32_t profile) { return has_trace(*tree.database, profile); });
}

uint64_t first_time_ns(const CallTree& tree) {
  uint64_t first = UINT64_MAX;
  std::vector<TraceRecord> block;
  for (const uint32_t profile : tree.selection.profiles) {
    if (!has_trace(*tree.database, profile)) continue;
    TraceSource next = tree.database->traces[profile];
    if (next(block) && !block.empty()) first = std::min(first, block.front().time_ns);
  }
  return first == UINT64_MAX ? 0 : first;
}

SampleWeights::SampleWeights(const CallTree& tree, const std::vector<uint32_t>& node_of, size_t nodes)
    : tree_(tree),
      node_of_(node_of),
      width_(tree.metrics()),
      samples_(nodes),
      weights_(nodes * tree.metrics()) {}

void SampleWeights::prepare(uint32_t profile, const OwnCosts& costs) {
  std::fill(samples_.begin(), samples_.end(), 0);
  std::fill(weights_.begin(), weights_.end(), 0.0);
  untraced_.clear();
  for_each_stretch(*tree_.database, profile, [&](uint64_t, uint64_t, uint32_t context) {
    if (context != kNone) ++samples_[node_of_[context]];
  });
  for (size_t i = 0; i < costs.nodes.size(); ++i) {
    const uint32_t node = costs.nodes[i];
    if (samples_[node] == 0) {
      untraced_.push_back(i);
      continue;
    }
    for (size_t m = 0; m < width_; ++m)
      weights_[node * width_ + m] = costs.values[i * width_ + m] / static_cast<double>(samples_[node]);
  }
}

}  // namespace prof

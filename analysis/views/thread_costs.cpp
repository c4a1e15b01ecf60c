#include "analysis/views/thread_costs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace prof {

void Spread::add(double value) {
  minimum = count == 0 ? value : std::min(minimum, value);
  maximum = count == 0 ? value : std::max(maximum, value);
  sum += value;
  sum_of_squares += value * value;
  ++count;
}

double Spread::stddev() const {
  // Rounding can make the variance of equal values negative.
  return count > 0 ? std::sqrt(std::max(0.0, sum_of_squares / count - mean() * mean())) : 0;
}

void ThreadCosts::add_profile(const CallTree& tree, uint32_t profile, std::vector<Cost>& scratch) {
  std::vector<uint32_t> position(tree.database->metrics.size(), kNone);
  for (uint32_t m = 0; m < metrics_; ++m) position[tree.selection.metrics[m]] = m;
  std::vector<uint32_t> touched;
  const auto add = [&](uint32_t slot, Cost cost) {
    if (scratch[slot].inclusive == 0 && scratch[slot].exclusive == 0) touched.push_back(slot);
    scratch[slot].inclusive += cost.inclusive;
    scratch[slot].exclusive += cost.exclusive;
  };
  const auto width = static_cast<uint32_t>(metrics_);
  for (const ProfileValue& value : tree.database->profiles[profile].values) {
    const uint32_t m = position[value.metric];
    if (m == kNone || !starts_frame(tree.database->contexts[value.context])) continue;
    uint32_t node = tree.node_of[value.context];
    if (!tree.recursion_merged) {
      add(node * width + m, {value.values.inclusive, value.values.exclusive});
      continue;
    }
    if (value.values.exclusive == 0) continue;
    add(node * width + m, {0, value.values.exclusive});
    for (; node != kNone; node = tree.nodes[node].parent) add(node * width + m, {value.values.exclusive, 0});
  }
  for (const uint32_t slot : touched) {
    if (scratch[slot].inclusive != 0 || scratch[slot].exclusive != 0)
      entries_.push_back({slot / width, slot % width, profile, scratch[slot]});
    scratch[slot] = {};
  }
}

ThreadCosts::ThreadCosts(const CallTree& tree) : metrics_(tree.metrics()) {
  std::vector<Cost> scratch(tree.nodes.size() * metrics_);
  for (const uint32_t profile : tree.selection.profiles) add_profile(tree, profile, scratch);

  first_.assign(tree.nodes.size() * metrics_ + 1, 0);
  for (const Entry& entry : entries_) ++first_[entry.node * metrics_ + entry.metric + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<Entry> sorted(entries_.size());
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for (const Entry& entry : entries_) sorted[next[entry.node * metrics_ + entry.metric]++] = entry;
  entries_ = std::move(sorted);
  per_profile_.resize(tree.database->profiles.size());
  seen_.assign(tree.database->profiles.size(), 0);
}

ThreadSpread ThreadCosts::spread(const std::vector<Instance>& instances, size_t metric) const {
  ++round_;
  touched_.clear();
  for (const Instance& instance : instances) {
    const size_t slot = instance.node * metrics_ + metric;
    for (size_t e = first_[slot]; e < first_[slot + 1]; ++e) {
      const Entry& entry = entries_[e];
      if (seen_[entry.profile] != round_) {
        seen_[entry.profile] = round_;
        touched_.push_back(entry.profile);
        per_profile_[entry.profile] = {};
      }
      if (instance.outermost) per_profile_[entry.profile].inclusive += entry.cost.inclusive;
      per_profile_[entry.profile].exclusive += entry.cost.exclusive;
    }
  }
  ThreadSpread spread;
  for (const uint32_t profile : touched_) {
    spread.inclusive.add(per_profile_[profile].inclusive);
    spread.exclusive.add(per_profile_[profile].exclusive);
  }
  return spread;
}

}  // namespace prof

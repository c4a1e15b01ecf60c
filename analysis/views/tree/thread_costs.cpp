#include "analysis/views/tree/thread_costs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/database/stored_values.h"
#include "analysis/views/tree/own_costs.h"

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

namespace {

// For a tree whose nodes are the frames of the database: their costs, as in the database.
template <class Add>
void add_frames(const CallTree& tree, uint32_t profile, std::vector<ProfileValue>& buffer, Add add) {
  std::vector<uint32_t> position(tree.database->metrics.size(), kNone);
  for (uint32_t m = 0; m < tree.metrics(); ++m) position[tree.selection.metrics[m]] = m;
  const uint32_t only_metric = tree.metrics() == 1 ? tree.selection.metrics[0] : kNone;
  for (const ProfileValue& value : values_of(*tree.database, profile, buffer, only_metric)) {
    const uint32_t m = position[value.metric];
    if (m == kNone || !starts_frame(tree.database->contexts[value.context])) continue;
    add(tree.node_of[value.context], m, Cost{value.values.inclusive, value.values.exclusive});
  }
}

// For a folded tree: the exclusive cost of a node is part of the inclusive cost of it and of all nodes above
// it.
template <class Add>
void add_folded(const CallTree& tree, const OwnCosts& own, Add add) {
  const auto width = static_cast<uint32_t>(tree.metrics());
  for (size_t i = 0; i < own.nodes.size(); ++i) {
    for (uint32_t m = 0; m < width; ++m) {
      const double cost = own.values[i * width + m];
      if (cost == 0) continue;
      add(own.nodes[i], m, Cost{0, cost});
      for (uint32_t node = own.nodes[i]; node != kNone; node = tree.nodes[node].parent)
        add(node, m, Cost{cost, 0});
    }
  }
}

}  // namespace

void ThreadCosts::take_profile(uint32_t profile, std::vector<Cost>& scratch, std::vector<uint32_t>& touched) {
  const auto width = static_cast<uint32_t>(metrics_);
  for (const uint32_t slot : touched) {
    if (scratch[slot].inclusive != 0 || scratch[slot].exclusive != 0)
      entries_.push_back({slot / width, slot % width, profile, scratch[slot]});
    scratch[slot] = {};
  }
  touched.clear();
}

ThreadCosts::ThreadCosts(const CallTree& tree, const std::stop_token& stop) : metrics_(tree.metrics()) {
  std::vector<Cost> scratch(tree.nodes.size() * metrics_);
  std::vector<uint32_t> touched;
  std::vector<ProfileValue> buffer;
  const auto add = [&](uint32_t node, uint32_t metric, Cost cost) {
    const auto slot = static_cast<uint32_t>(node * metrics_ + metric);
    if (scratch[slot].inclusive == 0 && scratch[slot].exclusive == 0) touched.push_back(slot);
    scratch[slot].inclusive += cost.inclusive;
    scratch[slot].exclusive += cost.exclusive;
  };
  OwnCostsByThread own(tree, tree.node_of, tree.nodes.size());
  for (const uint32_t profile : tree.selection.profiles) {
    if (stop.stop_requested()) return;
    if (tree.is_folded)
      add_folded(tree, own.of(profile), add);
    else
      add_frames(tree, profile, buffer, add);
    take_profile(profile, scratch, touched);
  }

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

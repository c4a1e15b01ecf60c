#include "analysis/database/summaries.h"

#include <algorithm>
#include <cmath>

namespace prof {
namespace {

constexpr double Values::*kScopes[] = {&Values::exclusive, &Values::inclusive, &Values::point};

constexpr size_t kMostGroups = 256;

}  // namespace

void add(Summary& summary, const Values& values) {
  const bool first = summary.profiles == 0;
  for (const auto scope : kScopes) {
    const double value = values.*scope;
    summary.sum.*scope += value;
    summary.sum_of_squares.*scope += value * value;
    summary.minimum.*scope = first ? value : std::min(summary.minimum.*scope, value);
    summary.maximum.*scope = first ? value : std::max(summary.maximum.*scope, value);
  }
  ++summary.profiles;
}

void add(Summary& summary, const Summary& more) {
  const bool first = summary.profiles == 0;
  for (const auto scope : kScopes) {
    summary.sum.*scope += more.sum.*scope;
    summary.sum_of_squares.*scope += more.sum_of_squares.*scope;
    summary.minimum.*scope =
        first ? more.minimum.*scope : std::min(summary.minimum.*scope, more.minimum.*scope);
    summary.maximum.*scope =
        first ? more.maximum.*scope : std::max(summary.maximum.*scope, more.maximum.*scope);
  }
  summary.profiles += more.profiles;
}

void GroupSummaries::add(size_t index, const Values& values) {
  uint32_t& slot = slot_of_[index];
  if (slot == kNone) {
    slot = static_cast<uint32_t>(sums_.size());
    sums_.emplace_back(index, Summary{});
  }
  prof::add(sums_[slot].second, values);
}

std::vector<std::pair<size_t, Summary>> GroupSummaries::take() {
  for (const auto& [index, sum] : sums_) slot_of_[index] = kNone;
  return std::exchange(sums_, {});
}

size_t profiles_of_group(size_t profiles) {
  return profiles / kMostGroups + 1;
}

std::vector<Summary> summarize(const Database& database) {
  const size_t contexts = database.contexts.size();
  std::vector<Summary> summaries(database.metrics.size() * contexts);
  for (const Profile& profile : database.profiles) {
    for (const ProfileValue& value : profile.values) {
      add(summaries[value.metric * contexts + value.context], value.values);
    }
  }
  return summaries;
}

double mean(const Summary& summary, double Values::*scope) {
  return summary.profiles == 0 ? 0 : summary.sum.*scope / summary.profiles;
}

double standard_deviation(const Summary& summary, double Values::*scope) {
  if (summary.profiles == 0) return 0;
  const double average = mean(summary, scope);
  // Rounding makes the variance of equal values slightly negative.
  return std::sqrt(std::max(0.0, summary.sum_of_squares.*scope / summary.profiles - average * average));
}

}  // namespace prof

#include "analysis/database/summaries.h"

#include <algorithm>
#include <cmath>

namespace prof {
namespace {

constexpr double Values::*kScopeValues[] = {&Values::exclusive, &Values::inclusive, &Values::point};

}  // namespace

void add(Summary& summary, const Values& values) {
  const bool first = summary.profiles == 0;
  for (const auto scope : kScopeValues) {
    const double value = values.*scope;
    summary.sum.*scope += value;
    summary.sum_of_squares.*scope += value * value;
    summary.minimum.*scope = first ? value : std::min(summary.minimum.*scope, value);
    summary.maximum.*scope = first ? value : std::max(summary.maximum.*scope, value);
  }
  ++summary.profiles;
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
  // Rounding can make the variance of equal values slightly negative.
  return std::sqrt(std::max(0.0, summary.sum_of_squares.*scope / summary.profiles - average * average));
}

}  // namespace prof

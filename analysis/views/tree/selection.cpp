#include "analysis/views/tree/selection.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <strings.h>

#include <algorithm>
#include <numeric>

#include "analysis/views/tree/database_sums.h"
#include "analysis/words/nearest_name.h"

namespace prof {
namespace {

constexpr size_t kThreadsNamedInError = 10;  // keeps the message to one line

bool is_measured(const Database& database, uint32_t metric) {
  if (has_stored_sums(database)) {
    return std::ranges::any_of(database.stored->root_costs(metric),
                               [](const StoredValues::RootCost& root) { return root.inclusive != 0; });
  }
  if (has_summaries(database)) {
    for (uint32_t c = 0; c < database.contexts.size(); ++c) {
      if (database.contexts[c].parent == kNone && database.summary(metric, c).sum.inclusive != 0) return true;
    }
    return false;
  }
  std::vector<ProfileValue> buffer;
  for (uint32_t profile = 0; profile < database.profiles.size(); ++profile) {
    for (const ProfileValue& value : values_of(database, profile, buffer, metric)) {
      if (value.metric == metric && value.values.inclusive != 0) return true;
    }
  }
  return false;
}

int32_t thread_index(const Database& database, uint32_t profile) {
  const int32_t thread = database.profiles[profile].id.thread;
  return thread >= 0 ? thread : static_cast<int32_t>(profile);
}

std::string rank_and_thread(const Database& database, uint32_t profile) {
  const ProfileId& id = database.profiles[profile].id;
  const int32_t group = id.rank >= 0 ? id.rank : id.process;
  if (id.device >= 0) return fmt::format("{}.device{}.queue{}", std::max(group, 0), id.device, id.queue);
  return fmt::format("{}.{}", std::max(group, 0), thread_index(database, profile));
}

bool matches(const Database& database, uint32_t profile, const std::string& pattern) {
  const auto fits = [&](const std::string& text) { return fnmatch(pattern.c_str(), text.c_str(), 0) == 0; };
  const ProfileId& id = database.profiles[profile].id;
  return (id.device < 0 && fits(std::to_string(thread_index(database, profile)))) ||
         fits(rank_and_thread(database, profile)) || (!id.thread_name.empty() && fits(id.thread_name));
}

uint32_t metric_by_name(const Database& database, const std::string& name) {
  for (uint32_t m = 0; m < database.metrics.size(); ++m) {
    if (strcasecmp(database.metrics[m].name.c_str(), name.c_str()) == 0) return m;
  }
  std::vector<std::string> known;
  for (const Metric& metric : database.metrics) known.push_back(metric.name);
  throw SelectionError(
      SelectionFailure::UnknownMetric,
      fmt::format("no metric {} in this database; available: {}{}", name,
                  known.empty() ? std::string("none") : fmt::format("{}", fmt::join(known, ", ")),
                  did_you_mean(name, known)));
}

[[noreturn]] void throw_unknown_thread(const Database& database, const std::string& pattern) {
  std::vector<std::string> known;
  const size_t named = std::min(database.profiles.size(), kThreadsNamedInError);
  for (uint32_t p = 0; p < named; ++p) known.push_back(thread_label(database, p));
  if (database.profiles.size() > named)
    known.push_back(fmt::format("{} more", database.profiles.size() - named));
  throw SelectionError(
      SelectionFailure::UnknownThread,
      fmt::format("no thread {} in this database; available: {}", pattern,
                  known.empty() ? std::string("none") : fmt::format("{}", fmt::join(known, ", "))));
}

}  // namespace

std::string thread_label(const Database& database, uint32_t profile) {
  const std::string& name = database.profiles[profile].id.thread_name;
  return rank_and_thread(database, profile) + (name.empty() ? "" : " " + name);
}

std::string format_thread(const Database& database, uint32_t profile) {
  const std::string& name = database.profiles[profile].id.thread_name;
  return rank_and_thread(database, profile) + (name.empty() ? "" : " (" + name + ")");
}

Selection select(const Database& database, const std::vector<std::string>& metrics,
                 const std::vector<std::string>& threads) {
  Selection selection;
  for (const std::string& name : metrics) {
    const uint32_t metric = metric_by_name(database, name);
    if (std::find(selection.metrics.begin(), selection.metrics.end(), metric) == selection.metrics.end())
      selection.metrics.push_back(metric);
  }
  if (metrics.empty()) {
    for (uint32_t m = 0; m < database.metrics.size(); ++m)
      if (is_measured(database, m)) selection.metrics.push_back(m);
  }
  if (selection.metrics.empty()) {
    selection.metrics.resize(database.metrics.size());
    std::iota(selection.metrics.begin(), selection.metrics.end(), 0u);
  }

  selection.every_profile = threads.empty();
  std::vector<bool> used(threads.size(), false);
  for (uint32_t p = 0; p < database.profiles.size(); ++p) {
    bool wanted = threads.empty();
    for (size_t t = 0; t < threads.size(); ++t) {
      if (!matches(database, p, threads[t])) continue;
      wanted = true;
      used[t] = true;
    }
    if (wanted) selection.profiles.push_back(p);
  }
  for (size_t t = 0; t < threads.size(); ++t)
    if (!used[t]) throw_unknown_thread(database, threads[t]);
  return selection;
}

CostColumns context_costs(const Database& database, const Selection& selection) {
  const size_t width = selection.metrics.size(), contexts = database.contexts.size();
  if (selection.every_profile && has_stored_sums(database)) return database.stored->costs(selection.metrics);
  CostColumns costs(width, std::vector<Cost>(contexts));
  if (selection.every_profile && has_summaries(database)) {
    for (size_t m = 0; m < width; ++m) {
      for (uint32_t c = 0; c < contexts; ++c) {
        const Values& sum = database.summary(selection.metrics[m], c).sum;
        costs[m][c] = {sum.inclusive, sum.exclusive};
      }
    }
    return costs;
  }
  std::vector<uint32_t> position(database.metrics.size(), kNone);
  for (uint32_t m = 0; m < width; ++m) position[selection.metrics[m]] = m;
  const uint32_t only_metric = width == 1 ? selection.metrics[0] : kNone;
  std::vector<ProfileValue> buffer;
  for (const uint32_t profile : selection.profiles) {
    for (const ProfileValue& value : values_of(database, profile, buffer, only_metric)) {
      if (position[value.metric] == kNone) continue;
      Cost& cost = costs[position[value.metric]][value.context];
      cost.inclusive += value.values.inclusive;
      cost.exclusive += value.values.exclusive;
    }
  }
  return costs;
}

}  // namespace prof

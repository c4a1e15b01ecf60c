#include "tests/analysis/database/both_readings.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "analysis/database/database.h"
#include "analysis/database/stored_values.h"

namespace prof::test {
namespace {

constexpr size_t kMaxMetrics = 8;  // that are read one by one; a damaged file can name thousands

// Everything that can be requested.
struct Asked {
  Database database;
  std::vector<std::vector<Cost>> costs;
  std::vector<std::vector<Values>> sums;
};

std::optional<Asked> ask_for_all(const std::filesystem::path& directory) try {
  Asked asked{read_database(directory, ReadValues::WhenAskedFor), {}, {}};
  if (!asked.database.stored) return asked;
  asked.database.stored->check_profiles();
  std::vector<uint32_t> metrics(asked.database.metrics.size());
  std::iota(metrics.begin(), metrics.end(), 0u);
  asked.costs = asked.database.stored->costs(metrics);
  for (const uint32_t metric : metrics) {
    if (metric < kMaxMetrics) asked.sums.push_back(asked.database.stored->sums(metric));
  }
  return asked;
} catch (const DatabaseError&) {
  return std::nullopt;
}

std::optional<Database> read_now(const std::filesystem::path& directory) try {
  return read_database(directory);
} catch (const DatabaseError&) {
  return std::nullopt;
}

bool has_same_values(const Database& now, const Database& asked) {
  std::vector<ProfileValue> buffer;
  for (uint32_t p = 0; p < now.profiles.size(); ++p) {
    const std::vector<ProfileValue>& expected = now.profiles[p].values;
    const auto all = values_of(asked, p, buffer);
    if (!std::equal(all.begin(), all.end(), expected.begin(), expected.end())) return false;
    for (uint32_t m = 0; m < std::min(now.metrics.size(), kMaxMetrics); ++m) {
      std::vector<ProfileValue> wanted, got;
      for (const ProfileValue& value : expected)
        if (value.metric == m) wanted.push_back(value);
      for (const ProfileValue& value : values_of(asked, p, buffer, m))
        if (value.metric == m) got.push_back(value);
      if (got != wanted) return false;
    }
  }
  return true;
}

std::string difference_of_sums(const Database& now, const Asked& asked) {
  for (uint32_t m = 0; m < now.metrics.size(); ++m) {
    std::vector<double> roots(now.contexts.size());
    for (const StoredValues::RootCost& root : asked.database.stored->root_costs(m))
      roots[root.context] = root.inclusive;
    for (uint32_t c = 0; c < now.contexts.size(); ++c) {
      const Values& sum = now.summary(m, c).sum;
      const Cost& cost = asked.costs[m][c];
      if (m < asked.sums.size() && asked.sums[m][c] != sum) return "sums";
      if (cost.inclusive != sum.inclusive || cost.exclusive != sum.exclusive) return "costs";
      if (now.contexts[c].parent == kNone && roots[c] != sum.inclusive) return "costs of roots";
    }
  }
  return {};
}

}  // namespace

std::string difference_of_readings(const std::filesystem::path& directory) {
  const std::optional<Database> now = read_now(directory);
  const std::optional<Asked> asked = ask_for_all(directory);
  if (now.has_value() != asked.has_value()) return now ? "refused as it is asked for" : "refused at once";
  if (!now) return {};
  const Database& other = asked->database;
  if (now->profiles.size() != other.profiles.size()) return "number of profiles";
  for (size_t p = 0; p < now->profiles.size(); ++p)
    if (now->profiles[p].id != other.profiles[p].id || now->profiles[p].samples != other.profiles[p].samples)
      return "identities of profiles";
  if (now->contexts != other.contexts || now->metrics != other.metrics) return "contexts and metrics";
  if (!has_same_values(*now, other)) return "values";
  if (!other.stored) return now->summaries == other.summaries ? "" : "summaries";
  return difference_of_sums(*now, *asked);
}

}  // namespace prof::test

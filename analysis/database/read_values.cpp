#include <algorithm>

#include "analysis/database/profile_file.h"
#include "analysis/database/read.h"
#include "analysis/database/statistics.h"
#include "analysis/database/summaries.h"

namespace prof {
namespace {

void read_summaries(const ProfileFile& file, Database& database) {
  const size_t contexts = database.contexts.size();
  database.summaries.resize(database.metrics.size() * contexts);
  file.visit_summary(0, file.summary_contexts(), [&](uint32_t context, uint16_t statistic, double value) {
    const StatisticId& id = file.index().statistics[statistic];
    Summary& summary = database.summaries[size_t{id.metric} * contexts + context];
    if (id.is_count)
      summary.profiles = static_cast<uint32_t>(value);
    else
      summary.*id.statistic.*id.scope = value;
  });
}

// HPCToolkit writes only the requested statistics; the others are computed from the profiles.
void complete_summaries(const MetaIndex& index, Database& database) {
  constexpr size_t kStatistics = 4, kModelScopes = 3;
  std::vector<size_t> listed(database.metrics.size());  // of 12 statistics and the count
  for (const StatisticId& id : index.statistics) {
    if (id.is_count || (id.listed && id.statistic != nullptr && id.scope != nullptr)) ++listed[id.metric];
  }
  if (std::all_of(listed.begin(), listed.end(),
                  [&](size_t n) { return n >= kStatistics * kModelScopes + 1; })) {
    return;
  }
  std::vector<Summary> computed = summarize(database);
  const size_t contexts = database.contexts.size();
  for (const StatisticId& id : index.statistics) {
    if (!id.is_count && (id.statistic == nullptr || id.scope == nullptr)) continue;
    for (size_t i = id.metric * contexts; i < (size_t{id.metric} + 1) * contexts; ++i) {
      if (id.is_count) {
        computed[i].profiles = database.summaries[i].profiles;
      } else {
        computed[i].*id.statistic.*id.scope = database.summaries[i].*id.statistic.*id.scope;
      }
    }
  }
  database.summaries = std::move(computed);
}

}  // namespace

void read_values(const ProfileFile& file, Database& database) {
  read_summaries(file, database);
  for (uint32_t p = 0; p < database.profiles.size(); ++p) {
    file.read_profile(p, kNone, database.profiles[p].values);
    database.profiles[p].values.shrink_to_fit();
  }
  complete_summaries(file.index(), database);
}

}  // namespace prof

#include "analysis/database/stored_values.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "analysis/database/parallel_for.h"
#include "analysis/database/profile_file.h"

namespace prof {
namespace {

constexpr int kMaxJobs = 8;
constexpr uint64_t kRanges = 64;  // of the summary's contexts, to distribute over threads

int jobs() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxJobs);
}

// Calls visit as ProfileFile::visit_summary() does, but on several threads, each for its own contexts.
template <typename Visit>
void visit_all(const ProfileFile& file, const Visit& visit) {
  const uint64_t contexts = file.summary_contexts();
  // If a context is listed twice, the last one counts, which needs a single thread.
  parallel_for(kRanges, file.is_summary_sorted() ? jobs() : 1, [&](uint64_t range) {
    file.visit_summary(contexts * range / kRanges, contexts * (range + 1) / kRanges, visit);
  });
}

}  // namespace

bool has_all_sums(const ProfileFile& file) {
  constexpr size_t kModelScopes = 3;
  std::vector<size_t> listed(file.metrics());
  for (const StatisticId& id : file.index().statistics)
    if (id.listed && id.statistic == &Summary::sum && id.scope != nullptr) ++listed[id.metric];
  return std::ranges::all_of(listed, [](size_t n) { return n == kModelScopes; });
}

StoredValues::StoredValues(std::unique_ptr<const ProfileFile> file)
    : file_(std::move(file)), root_costs_(file_->metrics()) {
  file_->visit_roots([this](uint32_t context, uint16_t statistic, double value) {
    const StatisticId& id = file_->index().statistics[statistic];
    if (id.statistic == &Summary::sum && id.scope == &Values::inclusive)
      root_costs_[id.metric].push_back({context, value});
  });
}

StoredValues::~StoredValues() = default;

size_t StoredValues::metrics() const {
  return file_->metrics();
}

size_t StoredValues::contexts() const {
  return file_->contexts();
}

void StoredValues::check_profiles() const {
  parallel_for(file_->ids().size(), jobs(), [&](size_t profile) { file_->check_profile(profile); });
}

void StoredValues::read_profile(uint32_t profile, uint32_t only_metric,
                                std::vector<ProfileValue>& values) const {
  file_->read_profile(profile, only_metric, values);
}

std::vector<std::vector<Cost>> StoredValues::costs(std::span<const uint32_t> metrics) const {
  struct Target {
    Cost* column = nullptr;
    double Cost::*member = nullptr;
  };
  std::vector<std::vector<Cost>> columns(metrics.size());
  // In parallel, because the system takes time to provide that much memory.
  parallel_for(columns.size(), jobs(), [&](size_t m) { columns[m].resize(contexts()); });
  const auto column_of = [&](uint32_t metric) {
    return static_cast<size_t>(std::ranges::find(metrics, metric) - metrics.begin());
  };
  std::vector<Target> targets(file_->index().statistics.size());
  for (size_t s = 0; s < targets.size(); ++s) {
    const StatisticId& id = file_->index().statistics[static_cast<uint16_t>(s)];
    if (id.statistic != &Summary::sum || (id.scope != &Values::inclusive && id.scope != &Values::exclusive))
      continue;
    if (const size_t m = column_of(id.metric); m < metrics.size())
      targets[s] = {columns[m].data(), id.scope == &Values::inclusive ? &Cost::inclusive : &Cost::exclusive};
  }
  visit_all(*file_, [&](uint32_t context, uint16_t statistic, double value) {
    if (const Target& target = targets[statistic]; target.column)
      target.column[context].*target.member = value;
  });
  for (size_t m = 0; m < metrics.size(); ++m)
    if (const size_t first = column_of(metrics[m]); first != m) columns[m] = columns[first];
  return columns;
}

std::vector<Values> StoredValues::sums(uint32_t metric) const {
  std::vector<Values> sums(contexts());
  visit_all(*file_, [&](uint32_t context, uint16_t statistic, double value) {
    const StatisticId& id = file_->index().statistics[statistic];
    if (id.metric == metric && id.statistic == &Summary::sum) sums[context].*id.scope = value;
  });
  return sums;
}

std::span<const ProfileValue> values_of(const Database& database, uint32_t profile,
                                        std::vector<ProfileValue>& buffer, uint32_t only_metric) {
  if (!database.stored) return database.profiles[profile].values;
  database.stored->read_profile(profile, only_metric, buffer);
  return buffer;
}

}  // namespace prof

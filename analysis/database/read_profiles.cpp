#include <algorithm>
#include <cmath>
#include <cstring>

#include "analysis/database/read.h"
#include "analysis/database/statistics.h"
#include "analysis/database/summaries.h"

namespace prof {
namespace {

using namespace format;

// The model keeps a Summary for each pair of metric and context. A small file can claim many of both without
// a single value: beyond kFreeSummaries there must be at least one value in kSummariesPerValue.
constexpr uint64_t kFreeSummaries = 1 << 20;
constexpr uint64_t kSummariesPerValue = 256;

class ProfileReader {
 public:
  ProfileReader(const std::filesystem::path& directory, const MetaIndex& index, Database& database)
      : file_(directory, kProfile),
        infos_(file_.read_section(0)),
        tuples_(file_.read_section(1)),
        index_(index),
        database_(database),
        value_budget_(file_.size() / kProfileValueBytes),
        context_budget_(file_.size() / kContextIndexBytes) {}

  std::vector<uint32_t> read() {
    const uint64_t begin = infos_.at<uint64_t>(infos_.begin());
    const uint32_t count = infos_.at<uint32_t>(infos_.begin() + 8);
    const uint8_t stride = infos_.at<uint8_t>(infos_.begin() + 12);
    infos_.check_array(begin, count, stride, kProfileInfoMinimum, "profiles");
    allocate_summaries();
    std::vector<uint32_t> indices;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t info = begin + i * stride;
      const bool is_summary = infos_.at<uint32_t>(info + 0x28) & kSummaryProfile;
      if (is_summary != (i == 0)) {
        if (!is_summary) infos_.corrupt("the first profile is not the summary");
        indices.push_back(kNone);  // the statistics of a part of the run, which the model does not keep
        continue;
      }
      if (is_summary) {
        read_summaries(info);
        indices.push_back(kNone);
      } else {
        indices.push_back(static_cast<uint32_t>(database_.profiles.size()));
        read_profile(info);
      }
    }
    if (count == 0) infos_.corrupt("it has no summary profile");
    complete_summaries();
    return indices;
  }

 private:
  void allocate_summaries() {
    const uint64_t count = uint64_t{database_.metrics.size()} * database_.contexts.size();
    if (count > kFreeSummaries && count / kSummariesPerValue > file_.size() / kProfileValueBytes) {
      file_.corrupt("too few values for so many metrics and contexts");
    }
    database_.summaries.resize(count);
  }

  // Calls visit(model's context or kNone for the global one, metric identifier, value) in the order of the
  // file.
  template <typename Visit>
  void read_block(uint64_t info, Visit&& visit) {
    const uint64_t value_count = infos_.at<uint64_t>(info), values_at = infos_.at<uint64_t>(info + 8),
                   context_count = infos_.at<uint32_t>(info + 0x10),
                   indices_at = infos_.at<uint64_t>(info + 0x18);
    // Blocks do not share bytes: together they fit into the file.
    if (value_count > value_budget_ || context_count > context_budget_) {
      file_.corrupt("more values than fit into the file");
    }
    value_budget_ -= value_count;
    context_budget_ -= context_count;
    file_.read_into(values_, values_at, value_count * kProfileValueBytes);
    file_.read_into(indices_, indices_at, context_count * kContextIndexBytes);
    for (uint64_t i = 0; i < context_count; ++i) {
      const auto id = load<uint32_t>(indices_, i * kContextIndexBytes);
      const uint64_t first = load<uint64_t>(indices_, i * kContextIndexBytes + 4);
      const uint64_t last =
          i + 1 < context_count ? load<uint64_t>(indices_, (i + 1) * kContextIndexBytes + 4) : value_count;
      if (first > last || last > value_count)
        file_.corrupt("the values of a context lie outside of its profile");
      const uint32_t context = id == 0 ? kNone : index_.contexts.find(id);
      for (uint64_t j = first; j < last; ++j) {
        const auto value = load<double>(values_, j * kProfileValueBytes + 2);
        if (!std::isfinite(value)) file_.corrupt("a value is not a number");
        visit(context, load<uint16_t>(values_, j * kProfileValueBytes), value);
      }
    }
  }

  template <typename T>
  static T load(const std::vector<char>& bytes, uint64_t offset) {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }

  void read_summaries(uint64_t info) {
    read_block(info, [&](uint32_t context, uint16_t metric_id, double value) {
      const StatisticId& id = index_.statistics[metric_id];
      if (!id.listed) file_.corrupt("a statistic that meta.db does not list");
      if (context == kNone) return;
      Summary& summary = database_.summaries[size_t{id.metric} * database_.contexts.size() + context];
      if (id.is_count) {
        if (value < 0 || value > UINT32_MAX) file_.corrupt("a number of profiles cannot be right");
        summary.profiles = static_cast<uint32_t>(value);
      } else if (id.statistic != nullptr && id.scope != nullptr) {
        summary.*id.statistic.*id.scope = value;
      }
    });
  }

  void read_profile(uint64_t info) {
    Profile& profile = database_.profiles.emplace_back();
    read_identifiers(infos_.at<uint64_t>(info + 0x20), profile.id);
    std::vector<ProfileValue>& values = profile.values;
    size_t first = 0;  // of the current context
    read_block(info, [&](uint32_t context, uint16_t metric_id, double value) {
      const PropagatedId& id = index_.propagated[metric_id];
      if (!id.listed) file_.corrupt("a metric that meta.db does not list");
      if (context == kNone || id.scope == nullptr) return;
      if (first < values.size() && values[first].context != context) first = values.size();
      size_t slot = first;
      while (slot < values.size() && values[slot].metric != id.metric) ++slot;
      if (slot == values.size()) values.push_back({context, id.metric, {}});
      values[slot].values.*id.scope = value;
    });
    const auto before = [](const ProfileValue& a, const ProfileValue& b) {
      return a.context != b.context ? a.context < b.context : a.metric < b.metric;
    };
    if (!std::is_sorted(values.begin(), values.end(), before))
      std::sort(values.begin(), values.end(), before);
    const auto same = [&](const ProfileValue& a, const ProfileValue& b) { return !before(a, b); };
    if (std::adjacent_find(values.begin(), values.end(), same) != values.end()) {
      file_.corrupt("a context is listed twice in a profile");
    }
    values.shrink_to_fit();
  }

  void read_identifiers(uint64_t tuple, ProfileId& id) const {
    if (tuple == 0) return;
    const uint16_t count = tuples_.at<uint16_t>(tuple);
    for (uint16_t i = 0; i < count; ++i) {
      const uint64_t identifier = tuple + 8 + 16u * i;
      const uint8_t kind = tuples_.at<uint8_t>(identifier);
      const bool is_physical = tuples_.at<uint16_t>(identifier + 2) & kPhysicalIdentifier;
      const uint64_t value =
          is_physical ? tuples_.at<uint64_t>(identifier + 8) : tuples_.at<uint32_t>(identifier + 4);
      if (kind < index_.identifier_names.size()) set(id, index_.identifier_names[kind], value);
    }
  }

  static void set(ProfileId& id, const std::string& kind, uint64_t value) {
    const int32_t number = value <= INT32_MAX ? static_cast<int32_t>(value) : -1;
    if (kind == kIdentifierNames[Node]) id.host = "node " + std::to_string(value);
    if (kind == kIdentifierNames[Rank]) id.rank = number;
    if (kind == kIdentifierNames[Process]) id.process = number;
    if (kind == kIdentifierNames[Thread]) id.thread = number;
    if (kind == kIdentifierNames[GpuDevice]) id.device = number;
    if (kind == kIdentifierNames[GpuStream]) id.queue = number;
  }

  // HPCToolkit writes only the statistics that were asked for; the rest comes from the profiles.
  void complete_summaries() {
    constexpr size_t kStatistics = 4, kModelScopes = 3;
    std::vector<size_t> listed(database_.metrics.size());  // of 12 statistics and the count
    for (const StatisticId& id : index_.statistics) {
      if (id.is_count || (id.listed && id.statistic != nullptr && id.scope != nullptr)) ++listed[id.metric];
    }
    if (std::all_of(listed.begin(), listed.end(),
                    [&](size_t n) { return n >= kStatistics * kModelScopes + 1; })) {
      return;
    }
    std::vector<Summary> computed = summarize(database_);
    const size_t contexts = database_.contexts.size();
    for (const StatisticId& id : index_.statistics) {
      if (!id.is_count && (id.statistic == nullptr || id.scope == nullptr)) continue;
      for (size_t i = id.metric * contexts; i < (size_t{id.metric} + 1) * contexts; ++i) {
        if (id.is_count) {
          computed[i].profiles = database_.summaries[i].profiles;
        } else {
          computed[i].*id.statistic.*id.scope = database_.summaries[i].*id.statistic.*id.scope;
        }
      }
    }
    database_.summaries = std::move(computed);
  }

  InputFile file_;
  Bytes infos_, tuples_;
  const MetaIndex& index_;
  Database& database_;
  uint64_t value_budget_, context_budget_;
  std::vector<char> values_, indices_;
};

}  // namespace

std::vector<uint32_t> read_profiles(const std::filesystem::path& directory, const MetaIndex& index,
                                    Database& database) {
  return ProfileReader(directory, index, database).read();
}

}  // namespace prof

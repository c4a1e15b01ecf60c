#include "analysis/database/profile_file.h"

#include <algorithm>

namespace prof {
namespace {

using namespace format;

// The model has a Summary for each pair of metric and context. A small file can claim many of both without a
// single value: beyond kFreeSummaries, at least one in kSummariesPerValue must have a value.
constexpr uint64_t kFreeSummaries = 1 << 20;
constexpr uint64_t kSummariesPerValue = 256;

void set(ProfileId& id, const std::string& kind, uint64_t value) {
  const int32_t number = value <= INT32_MAX ? static_cast<int32_t>(value) : -1;
  if (kind == kIdentifierNames[Node]) id.host = "node " + std::to_string(value);
  if (kind == kIdentifierNames[Rank]) id.rank = number;
  if (kind == kIdentifierNames[Process]) id.process = number;
  if (kind == kIdentifierNames[Thread]) id.thread = number;
  if (kind == kIdentifierNames[GpuDevice]) id.device = number;
  if (kind == kIdentifierNames[GpuStream]) id.queue = number;
}

}  // namespace

ProfileFile::ProfileFile(const std::filesystem::path& directory, std::shared_ptr<const MetaIndex> index,
                         const Database& database)
    : file_(directory, kProfile),
      infos_(file_.read_section(0)),
      tuples_(file_.read_section(1)),
      index_(std::move(index)),
      uses_(uses_of(*index_)),
      metrics_(database.metrics.size()),
      contexts_(database.contexts.size()),
      value_budget_(file_.size() / kProfileValueBytes),
      context_budget_(file_.size() / kContextIndexBytes) {
  const uint64_t begin = infos_.at<uint64_t>(infos_.begin());
  const uint32_t count = infos_.at<uint32_t>(infos_.begin() + 8);
  const uint8_t stride = infos_.at<uint8_t>(infos_.begin() + 12);
  infos_.check_array(begin, count, stride, kProfileInfoMinimum, "profiles");
  const uint64_t summaries = uint64_t{metrics_} * contexts_;
  if (summaries > kFreeSummaries && summaries / kSummariesPerValue > file_.size() / kProfileValueBytes)
    file_.corrupt("too few values for so many metrics and contexts");
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t info = begin + i * stride;
    const bool is_summary = infos_.at<uint32_t>(info + 0x28) & kSummaryProfile;
    if (i == 0 && !is_summary) infos_.corrupt("the first profile is not the summary");
    if (i == 0) {
      summary_ = read_block_header(info);
    } else if (!is_summary) {
      model_indices_.push_back(static_cast<uint32_t>(blocks_.size()));
      blocks_.push_back(read_block_header(info));
      read_identifiers(infos_.at<uint64_t>(info + 0x20), ids_.emplace_back());
      continue;
    }
    model_indices_.push_back(kNone);  // statistics of a part of the run; the model does not keep them
  }
  if (count == 0) infos_.corrupt("it has no summary profile");
  find_roots(database);
}

std::vector<ProfileFile::StatisticUse> ProfileFile::uses_of(const MetaIndex& index) {
  std::vector<StatisticUse> uses;
  for (const StatisticId& id : index.statistics) {
    const bool is_kept = id.statistic != nullptr && id.scope != nullptr;
    uses.push_back(!id.listed    ? StatisticUse::Unlisted
                   : id.is_count ? StatisticUse::Count
                   : is_kept     ? StatisticUse::Value
                                 : StatisticUse::Unused);
  }
  return uses;
}

ProfileFile::Block ProfileFile::read_block_header(uint64_t info) {
  const Block block{infos_.at<uint64_t>(info), infos_.at<uint64_t>(info + 8),
                    infos_.at<uint32_t>(info + 0x10), infos_.at<uint64_t>(info + 0x18)};
  // Blocks do not share bytes, so together they fit into the file.
  if (block.value_count > value_budget_ || block.context_count > context_budget_)
    file_.corrupt("more values than the file can hold");
  value_budget_ -= block.value_count;
  context_budget_ -= block.context_count;
  file_.check_range(block.values, block.value_count * kProfileValueBytes);
  file_.check_range(block.indices, block.context_count * kContextIndexBytes);
  return block;
}

void ProfileFile::read_identifiers(uint64_t tuple, ProfileId& id) const {
  if (tuple == 0) return;
  const uint16_t count = tuples_.at<uint16_t>(tuple);
  for (uint16_t i = 0; i < count; ++i) {
    const uint64_t identifier = tuple + 8 + 16u * i;
    const uint8_t kind = tuples_.at<uint8_t>(identifier);
    const bool is_physical = tuples_.at<uint16_t>(identifier + 2) & kPhysicalIdentifier;
    const uint64_t value =
        is_physical ? tuples_.at<uint64_t>(identifier + 8) : tuples_.at<uint32_t>(identifier + 4);
    if (kind < index_->identifier_names.size()) set(id, index_->identifier_names[kind], value);
  }
}

void ProfileFile::find_roots(const Database& database) {
  constexpr uint64_t kPiece = 1 << 16;
  std::vector<char> indices;
  uint32_t last = 0;
  for (uint64_t at = 0; at < summary_.context_count; at += kPiece) {
    const uint64_t count = std::min(summary_.context_count - at, kPiece);
    file_.read_into(indices, summary_.indices + at * kContextIndexBytes, count * kContextIndexBytes);
    for (uint64_t i = 0; i < count; ++i) {
      const auto id = load<uint32_t>(indices, i * kContextIndexBytes);
      if (at + i > 0 && id <= last) is_summary_sorted_ = false;
      last = id;
      const uint32_t context = id == 0 ? kNone : index_->contexts.find(id);
      if (context != kNone && database.contexts[context].parent == kNone) root_places_.push_back(at + i);
    }
  }
}

void ProfileFile::read_profile(size_t profile, uint32_t only_metric,
                               std::vector<ProfileValue>& values) const {
  values.clear();
  size_t first = 0;  // of the current context
  const Block& block = blocks_[profile];
  visit_block(block, 0, block.context_count, [&](uint32_t context, uint16_t metric_id, double value) {
    const PropagatedId& id = index_->propagated[metric_id];
    if (!id.listed) corrupt("a metric that meta.db does not list");
    if (context == kNone || id.scope == nullptr) return;
    if (only_metric != kNone && id.metric != only_metric) return;
    if (first < values.size() && values[first].context != context) first = values.size();
    size_t slot = first;
    while (slot < values.size() && values[slot].metric != id.metric) ++slot;
    if (slot == values.size()) values.push_back({context, id.metric, {}});
    values[slot].values.*id.scope = value;
  });
  const auto before = [](const ProfileValue& a, const ProfileValue& b) {
    return a.context != b.context ? a.context < b.context : a.metric < b.metric;
  };
  if (!std::is_sorted(values.begin(), values.end(), before)) std::sort(values.begin(), values.end(), before);
  const auto same = [&](const ProfileValue& a, const ProfileValue& b) { return !before(a, b); };
  if (std::adjacent_find(values.begin(), values.end(), same) != values.end())
    corrupt("a context is listed twice in a profile");
}

void ProfileFile::check_profile(size_t profile) const {
  uint32_t last = 0;
  bool is_sorted = true;
  const Block& block = blocks_[profile];
  visit_block(block, 0, block.context_count, [&](uint32_t context, uint16_t metric_id, double) {
    if (!index_->propagated[metric_id].listed) corrupt("a metric that meta.db does not list");
    if (context == kNone) return;
    is_sorted &= context >= last;
    last = context;
  });
  std::vector<ProfileValue> values;
  if (!is_sorted) read_profile(profile, kNone, values);  // finds out if a context is listed twice
}

}  // namespace prof

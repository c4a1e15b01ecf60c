#pragma once
// An open profile.db: finds the values of each profile and reads them piece by piece. Checks the file's
// structure when it opens the file, and values when it reads them. Several threads may read at once.

#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "analysis/database/input.h"
#include "analysis/database/model.h"
#include "analysis/database/read.h"

namespace prof {

class ProfileFile {
 public:
  // `database` must have its contexts and metrics.
  ProfileFile(const std::filesystem::path& directory, std::shared_ptr<const MetaIndex> index,
              const Database& database);

  size_t metrics() const { return metrics_; }
  size_t contexts() const { return contexts_; }
  const MetaIndex& index() const { return *index_; }
  // The model's index of each profile in the file; kNone for summary profiles.
  const std::vector<uint32_t>& model_indices() const { return model_indices_; }
  // The identities of the model's profiles.
  const std::vector<ProfileId>& ids() const { return ids_; }

  // Reads what Profile::values holds, restricted to one metric unless `only_metric` is kNone.
  void read_profile(size_t profile, uint32_t only_metric, std::vector<ProfileValue>& values) const;
  // Fails if read_profile() would fail.
  void check_profile(size_t profile) const;

  // Returns the number of contexts for which the summary has values. They are numbered in the order of the
  // file.
  uint64_t summary_contexts() const { return summary_.context_count; }
  // Calls visit(context, statistic, value) for the values of contexts [begin, end) that the model keeps.
  // `statistic` is the file's identifier, which index() resolves.
  template <typename Visit>
  void visit_summary(uint64_t begin, uint64_t end, Visit&& visit) const;
  // The same for all contexts without a parent.
  template <typename Visit>
  void visit_roots(Visit&& visit) const {
    for (const uint64_t at : root_places_) visit_summary(at, at + 1, visit);
  }
  // False if the contexts of the summary are out of order or listed twice.
  bool is_summary_sorted() const { return is_summary_sorted_; }

  [[noreturn]] void corrupt(std::string_view what) const { file_.corrupt(what); }

 private:
  struct Block {
    uint64_t value_count = 0, values = 0, context_count = 0, indices = 0;
  };
  // Small, because it is used for hundreds of millions of values.
  enum class StatisticUse : uint8_t { Unlisted, Unused, Count, Value };
  static std::vector<StatisticUse> uses_of(const MetaIndex& index);
  Block read_block_header(uint64_t info);
  void read_identifiers(uint64_t tuple, ProfileId& id) const;
  void find_roots(const Database& database);
  // Calls visit(context, metric identifier, value) for the contexts [begin, end) of a block, in the file's
  // order. `context` is the model's; kNone for the global one and for contexts that meta.db does not list.
  template <typename Visit>
  void visit_block(const Block& block, uint64_t begin, uint64_t end, Visit&& visit) const;

  template <typename T>
  static T load(const std::vector<char>& bytes, uint64_t offset) {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }

  InputFile file_;
  Bytes infos_, tuples_;
  const std::shared_ptr<const MetaIndex> index_;
  const std::vector<StatisticUse> uses_;  // by identifier
  const size_t metrics_, contexts_;
  uint64_t value_budget_, context_budget_;
  Block summary_;
  std::vector<Block> blocks_;  // per profile of the model
  std::vector<uint32_t> model_indices_;
  std::vector<ProfileId> ids_;
  std::vector<uint64_t> root_places_;  // in the summary
  bool is_summary_sorted_ = true;
};

template <typename Visit>
void ProfileFile::visit_block(const Block& block, uint64_t begin, uint64_t end, Visit&& visit) const {
  using namespace format;
  constexpr uint64_t kPiece = 256;  // contexts: their values fit into the processor's cache
  std::vector<char> indices, values;
  for (uint64_t at = begin; at < end; at += kPiece) {
    const uint64_t count = std::min(end - at, kPiece);
    const bool has_next = at + count < block.context_count;
    file_.read_into(indices, block.indices + at * kContextIndexBytes,
                    (count + (has_next ? 1 : 0)) * kContextIndexBytes);
    const auto first_of = [&](uint64_t i) {
      return i < count || has_next ? load<uint64_t>(indices, i * kContextIndexBytes + 4) : block.value_count;
    };
    for (uint64_t i = 0; i < count; ++i)
      if (first_of(i) > first_of(i + 1) || first_of(i + 1) > block.value_count)
        corrupt("the values of a context lie outside its profile");
    const uint64_t first = first_of(0);
    file_.read_into(values, block.values + first * kProfileValueBytes,
                    (first_of(count) - first) * kProfileValueBytes);
    for (uint64_t i = 0; i < count; ++i) {
      const auto id = load<uint32_t>(indices, i * kContextIndexBytes);
      const uint32_t context = id == 0 ? kNone : index_->contexts.find(id);
      const char* from = values.data() + (first_of(i) - first) * kProfileValueBytes;
      const char* const end_of_context = values.data() + (first_of(i + 1) - first) * kProfileValueBytes;
      for (; from != end_of_context; from += kProfileValueBytes) {
        uint16_t metric;
        double value;
        std::memcpy(&metric, from, sizeof metric);
        std::memcpy(&value, from + sizeof metric, sizeof value);
        if (!std::isfinite(value)) corrupt("a value is not a number");
        visit(context, metric, value);
      }
    }
  }
}

template <typename Visit>
void ProfileFile::visit_summary(uint64_t begin, uint64_t end, Visit&& visit) const {
  visit_block(summary_, begin, end, [&](uint32_t context, uint16_t statistic, double value) {
    const StatisticUse use = statistic < uses_.size() ? uses_[statistic] : StatisticUse::Unlisted;
    if (use == StatisticUse::Unlisted) corrupt("a statistic that meta.db does not list");
    if (use == StatisticUse::Unused || context == kNone) return;
    if (use == StatisticUse::Count && (value < 0 || value > UINT32_MAX))
      corrupt("a number of profiles is out of range");
    visit(context, statistic, value);
  });
}

}  // namespace prof

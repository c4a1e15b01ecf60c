// cct.db: the values of profile.db, by context, then metric, then profile.

#include <algorithm>

#include "analysis/database/output.h"
#include "analysis/database/statistics.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

using namespace format;

// Where a value is in the model.
struct Position {
  uint32_t profile;
  uint32_t value;
};

// All values of one context, and those of every context behind each other: a counting sort, stable, so that a
// context's values stay in the order of the profiles.
struct Transposed {
  std::vector<uint64_t> first;  // [context], and one behind the last
  std::vector<Position> positions;
};

Transposed transpose(const Database& database) {
  Transposed result;
  result.first.assign(database.contexts.size() + 1, 0);
  for (const Profile& profile : database.profiles) {
    for (const ProfileValue& value : profile.values) ++result.first[value.context + 1];
  }
  for (size_t i = 1; i < result.first.size(); ++i) result.first[i] += result.first[i - 1];
  result.positions.resize(result.first.back());
  std::vector<uint64_t> next = result.first;
  for (uint32_t p = 0; p < database.profiles.size(); ++p) {
    const auto& values = database.profiles[p].values;
    for (uint32_t v = 0; v < values.size(); ++v) result.positions[next[values[v].context]++] = {p, v};
  }
  return result;
}

class CctWriter {
 public:
  CctWriter(const Database& database, const LexAware& lex_aware, const std::filesystem::path& directory)
      : database_(database), lex_aware_(lex_aware), file_(directory, kCct) {}

  void write() {
    Transposed transposed = transpose(database_);
    write_global_context(transposed);
    for (size_t context = 0; context < database_.contexts.size(); ++context) {
      auto* const begin = transposed.positions.data() + transposed.first[context];
      auto* const end = transposed.positions.data() + transposed.first[context + 1];
      write_context(begin, end);
    }
    write_infos();
  }

 private:
  const ProfileValue& at(const Position& position) const {
    return database_.profiles[position.profile].values[position.value];
  }

  double cost(const Position& position, Scope scope) const {
    const auto member = value_of(scope);
    return member ? at(position).values.*member : lex_aware_.value(position.profile, position.value);
  }

  void begin_block() {
    file_.align(4);
    values_begin_ = file_.offset();
    value_count_ = 0;
    metric_start_ = 0;
    metric_indices_.clear();
    metric_count_ = 0;
  }
  void put(uint32_t profile, double value) {
    file_.buffer().put<uint32_t>(profile + 1);  // profile 0 is the summary
    file_.buffer().put(value);
    ++value_count_;
  }
  void end_metric(uint16_t id) {
    if (value_count_ == metric_start_) return;
    metric_indices_.put(id);
    metric_indices_.put(metric_start_);
    metric_start_ = value_count_;
    ++metric_count_;
  }
  void end_block() {
    infos_.put(value_count_);
    infos_.put(values_begin_);
    infos_.put(metric_count_);
    infos_.align(8);
    infos_.put(file_.offset());
    file_.write(metric_indices_.view());
    file_.flush_if_full();
  }

  void write_context(Position* begin, Position* end) {
    if (database_.metrics.size() > 1) {
      std::stable_sort(begin, end,
                       [&](const Position& a, const Position& b) { return at(a).metric < at(b).metric; });
    }
    begin_block();
    while (begin != end) {
      const uint32_t metric = at(*begin).metric;
      Position* metric_end = begin;
      while (metric_end != end && at(*metric_end).metric == metric) ++metric_end;
      for (const Scope scope : {Scope::Point, Scope::Function, Scope::LexAware, Scope::Execution}) {
        for (const Position* position = begin; position != metric_end; ++position) {
          const double value = cost(*position, scope);
          if (value != 0) put(position->profile, value);
        }
        end_metric(propagated_id(metric, scope));
      }
      begin = metric_end;
    }
    end_block();
  }

  void write_global_context(const Transposed& transposed) {
    std::vector<double> costs(database_.metrics.size() * database_.profiles.size());
    for (size_t context = 0; context < database_.contexts.size(); ++context) {
      if (database_.contexts[context].parent != kNone) continue;
      for (uint64_t i = transposed.first[context]; i < transposed.first[context + 1]; ++i) {
        const Position& position = transposed.positions[i];
        costs[at(position).metric * database_.profiles.size() + position.profile] +=
            at(position).values.inclusive;
      }
    }
    begin_block();
    for (uint32_t metric = 0; metric < database_.metrics.size(); ++metric) {
      for (uint32_t profile = 0; profile < database_.profiles.size(); ++profile) {
        const double value = costs[metric * database_.profiles.size() + profile];
        if (value != 0) put(profile, value);
      }
      end_metric(propagated_id(metric, Scope::Execution));
    }
    end_block();
  }

  void write_infos() {
    file_.align(8);
    const uint64_t begin = file_.offset();
    OutputBuffer header;
    header.put<uint64_t>(begin + 16);
    header.put(static_cast<uint32_t>(database_.contexts.size() + 1));
    header.put<uint8_t>(kContextInfoBytes);
    header.align(8);
    file_.write(header.view());
    file_.write(infos_.view());
    file_.end_section(0, begin);
    file_.finish();
  }

  const Database& database_;
  const LexAware& lex_aware_;
  OutputFile file_;
  OutputBuffer infos_;           // one structure per context
  OutputBuffer metric_indices_;  // of the current context
  uint64_t values_begin_ = 0, value_count_ = 0, metric_start_ = 0;
  uint16_t metric_count_ = 0;
};

}  // namespace

void write_contexts(const Database& database, const LexAware& lex_aware,
                    const std::filesystem::path& directory) {
  CctWriter(database, lex_aware, directory).write();
}

}  // namespace prof

#include "analysis/database/lex_aware.h"

#include <algorithm>

namespace prof {
namespace {

bool is_loop(const Context& context) {
  return context.kind == ContextKind::Loop;
}

// Returns the cost of each context with what it encloses, except inner loops. Parents come before children,
// so one backward pass is enough. `first` is scratch space: the position of each context's first value.
std::vector<double> without_inner_loops(const Database& database, const std::vector<ProfileValue>& values,
                                        std::vector<uint32_t>& first) {
  std::vector<double> result(values.size());
  for (size_t i = values.size(); i-- > 0;) {
    result[i] = values[i].values.point;
    first[values[i].context] = static_cast<uint32_t>(i);
  }
  for (size_t i = values.size(); i-- > 0;) {
    const Context& context = database.contexts[values[i].context];
    if (context.parent == kNone || context.relation != Relation::Enclosing || is_loop(context)) continue;
    for (size_t j = first[context.parent]; j < values.size() && values[j].context == context.parent; ++j) {
      if (values[j].metric == values[i].metric) result[j] += result[i];
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!is_loop(database.contexts[values[i].context])) result[i] = values[i].values.exclusive;
  }
  return result;
}

}  // namespace

LexAware::LexAware(const Database& database) : database_(database) {
  if (std::none_of(database.contexts.begin(), database.contexts.end(), is_loop)) return;
  loop_index_.assign(database.contexts.size(), kNone);
  uint32_t loops = 0;
  for (size_t i = 0; i < database.contexts.size(); ++i) {
    if (is_loop(database.contexts[i])) loop_index_[i] = loops++;
  }
  loop_sums_.assign(loops * database.metrics.size(), 0);
}

std::vector<double> LexAware::of(const std::vector<ProfileValue>& values) const {
  if (loop_index_.empty()) return {};
  std::vector<uint32_t> first(database_.contexts.size(), kNone);
  return without_inner_loops(database_, values, first);
}

void LexAware::add(const std::vector<ProfileValue>& values, const std::vector<double>& lex_aware) {
  for (size_t i = 0; i < lex_aware.size(); ++i) {
    const uint32_t loop = loop_index_[values[i].context];
    if (loop != kNone) loop_sums_[loop * database_.metrics.size() + values[i].metric] += lex_aware[i];
  }
}

double LexAware::sum(uint32_t metric, uint32_t context, const Summary& summary) const {
  if (loop_index_.empty() || loop_index_[context] == kNone) return summary.sum.exclusive;
  return loop_sums_[loop_index_[context] * database_.metrics.size() + metric];
}

}  // namespace prof

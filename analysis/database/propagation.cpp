#include "analysis/database/propagation.h"

#include <algorithm>
#include <functional>

namespace prof {

void Propagation::add(uint32_t context, double value) {
  values_[context].point += value;
  for (uint32_t at = context; at != kNone && !values_[at].reached; at = contexts_[at].parent) {
    values_[at].reached = true;
    reached_.push_back(at);
  }
}

void Propagation::finish(uint32_t metric, std::vector<ProfileValue>& out) {
  order_reached();
  for (const uint32_t at : reached_) {
    Cell& cell = values_[at];
    const Context& context = contexts_[at];
    cell.inclusive += cell.point;
    cell.exclusive += cell.point;
    if (context.parent != kNone) values_[context.parent].inclusive += cell.inclusive;
    // A function's exclusive cost includes its lines and loops; theirs does not include each other's.
    if (context.relation == Relation::Enclosing && context.parent != kNone)
      function_above(at).exclusive += cell.point;
    out.push_back({at, metric, {cell.exclusive, cell.inclusive, cell.point}});
    cell = {};
  }
  reached_.clear();
}

// Sorts children before their parents.
void Propagation::order_reached() {
  constexpr size_t kSparse = 16;  // if fewer are reached, sorting is faster than scanning all
  if (reached_.size() < values_.size() / kSparse) {
    std::sort(reached_.begin(), reached_.end(), std::greater<>());
    return;
  }
  reached_.clear();
  for (size_t at = values_.size(); at-- > 0;)
    if (values_[at].reached) reached_.push_back(static_cast<uint32_t>(at));
}

Propagation::Cell& Propagation::function_above(uint32_t context) {
  while (contexts_[context].relation == Relation::Enclosing && contexts_[context].parent != kNone) {
    context = contexts_[context].parent;
  }
  return values_[context];
}

void sort_values(std::vector<ProfileValue>& values) {
  std::sort(values.begin(), values.end(), [](const ProfileValue& a, const ProfileValue& b) {
    return a.context != b.context ? a.context < b.context : a.metric < b.metric;
  });
}

}  // namespace prof

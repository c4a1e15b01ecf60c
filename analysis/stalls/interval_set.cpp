#include "analysis/stalls/interval_set.h"

#include <algorithm>

namespace prof {

IntervalSet::Intervals::const_iterator IntervalSet::first_after(uint64_t time) const {
  auto at = intervals_.upper_bound(time);
  if (at != intervals_.begin() && std::prev(at)->second > time) --at;
  return at;
}

void IntervalSet::add(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  auto at = intervals_.upper_bound(begin);
  if (at != intervals_.begin() && std::prev(at)->second >= begin) {
    --at;
    begin = at->first;
  }
  while (at != intervals_.end() && at->first <= end) {
    end = std::max(end, at->second);
    at = intervals_.erase(at);
  }
  intervals_.emplace_hint(at, begin, end);
}

void IntervalSet::remove(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  for (auto at = first_after(begin); at != intervals_.end() && at->first < end;) {
    const auto [from, to] = *at;
    at = intervals_.erase(at);
    if (from < begin) intervals_.emplace_hint(at, from, begin);
    if (to > end) intervals_.emplace_hint(at, end, to);
  }
}

uint64_t IntervalSet::overlap(uint64_t begin, uint64_t end) const {
  if (begin >= end) return 0;
  uint64_t sum = 0;
  for (auto at = first_after(begin); at != intervals_.end() && at->first < end; ++at)
    sum += std::min(end, at->second) - std::max(begin, at->first);
  return sum;
}

uint64_t IntervalSet::total() const {
  uint64_t sum = 0;
  for (const auto& [begin, end] : intervals_) sum += end - begin;
  return sum;
}

}  // namespace prof

#include "hpcrun/memory/search_pace.h"

#include <algorithm>

namespace hpcrun {

SearchPace::Change SearchPace::sampled(uint64_t now_ns) noexcept {
  if (!is_often_.load(std::memory_order_relaxed) || now_ns < until_ns_.load(std::memory_order_relaxed))
    return Change::None;
  if (!is_often_.exchange(false, std::memory_order_relaxed)) return Change::None;
  const uint64_t rest = rest_ns_.load(std::memory_order_relaxed);
  rest_until_ns_.store(now_ns + rest, std::memory_order_relaxed);
  rest_ns_.store(std::min(2 * rest, kLongestRestNs), std::memory_order_relaxed);
  return Change::Seldom;
}

SearchPace::Change SearchPace::met(uint64_t now_ns) noexcept {
  if (is_often_.load(std::memory_order_relaxed) || now_ns < rest_until_ns_.load(std::memory_order_relaxed))
    return Change::None;
  return begin(now_ns + kSearchNs);
}

SearchPace::Change SearchPace::seen(uint64_t now_ns) noexcept {
  rest_ns_.store(kShortestRestNs, std::memory_order_relaxed);
  return begin(now_ns + kSeenNs);
}

SearchPace::Change SearchPace::begin(uint64_t until_ns) noexcept {
  if (until_ns_.load(std::memory_order_relaxed) < until_ns)
    until_ns_.store(until_ns, std::memory_order_relaxed);
  return is_often_.exchange(true, std::memory_order_relaxed) ? Change::None : Change::Often;
}

}  // namespace hpcrun

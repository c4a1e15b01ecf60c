#include "hpcrun/contention/sampling_rate_control.h"

#include <algorithm>

namespace hpcrun {

SamplingRateControl::Change SamplingRateControl::sampled(uint64_t now_ns) noexcept {
  if (!is_often_.load(std::memory_order_relaxed) || now_ns < until_ns_.load(std::memory_order_relaxed))
    return Change::None;
  return end(now_ns);
}

SamplingRateControl::Change SamplingRateControl::settled(uint64_t now_ns) noexcept {
  return has_seen_.load(std::memory_order_relaxed) ? end(now_ns) : Change::None;
}

SamplingRateControl::Change SamplingRateControl::end(uint64_t now_ns) noexcept {
  if (!is_often_.exchange(false, std::memory_order_relaxed)) return Change::None;
  const uint64_t rest = rest_ns_.load(std::memory_order_relaxed);
  rest_until_ns_.store(now_ns + rest, std::memory_order_relaxed);
  rest_ns_.store(std::min(2 * rest, kMaxRestNs), std::memory_order_relaxed);
  return Change::Seldom;
}

SamplingRateControl::Change SamplingRateControl::met(uint64_t now_ns) noexcept {
  if (is_often_.load(std::memory_order_relaxed) || rests_until(now_ns)) return Change::None;
  since_ns_.store(now_ns, std::memory_order_relaxed);
  until_ns_.store(now_ns + kSearchNs, std::memory_order_relaxed);
  has_seen_.store(false, std::memory_order_relaxed);
  return is_often_.exchange(true, std::memory_order_relaxed) ? Change::None : Change::Often;
}

SamplingRateControl::Change SamplingRateControl::seen(uint64_t now_ns) noexcept {
  const Change change = met(now_ns);
  if (is_often_.load(std::memory_order_relaxed)) {
    until_ns_.store(since_ns_.load(std::memory_order_relaxed) + kSeenNs, std::memory_order_relaxed);
    has_seen_.store(true, std::memory_order_relaxed);
  }
  return change;
}

SamplingRateControl::Change SamplingRateControl::call_off(uint64_t now_ns) noexcept {
  if (!is_often_.exchange(false, std::memory_order_relaxed)) return Change::None;
  const uint64_t since = since_ns_.load(std::memory_order_relaxed);
  const uint64_t searched = now_ns > since ? now_ns - since : 0;
  rest_until_ns_.store(now_ns + searched * kMinRestNs / kSearchNs, std::memory_order_relaxed);
  return Change::Seldom;
}

}  // namespace hpcrun

#include "repair/isolate/atomic_pauses.h"

namespace hpcrun {

void AtomicPauses::begin(uint64_t now_ns) noexcept {
  begun_ns_ = watched_since_ns_ = now_ns;
  private_since_ns_ = 0;
}

bool AtomicPauses::may_be_private(uint64_t now_ns, bool all_are_twins) noexcept {
  if (private_since_ns_) return true;
  if (!all_are_twins) watched_since_ns_ = now_ns;
  const bool is_watched_in_vain = !has_met_ && now_ns - begun_ns_ >= kLongestWatchNs;
  if (now_ns - watched_since_ns_ < kWatchNs && !is_watched_in_vain) return false;
  private_since_ns_ = now_ns;
  return true;
}

bool AtomicPauses::rest(uint64_t now_ns) noexcept {
  const bool was_worth_it = private_since_ns_ && now_ns - private_since_ns_ >= kWorthNs;
  private_since_ns_ = 0;
  has_met_ = true;
  if (was_worth_it) short_ones_ = 0;
  rests_until_ns_ = now_ns + (kShortestRestNs << short_ones_);
  return was_worth_it || ++short_ones_ <= kMostShort;
}

}  // namespace hpcrun

#include "repair/layout/site_placements.h"

#include "hpcrun/guest/private_mapping.h"

namespace hpcrun {

namespace {

// Bits of a decision, after a byte each for align, offset and pad.
constexpr uint32_t kDecided = 1u << 24;
constexpr uint32_t kHasLocks = 1u << 25;

uint32_t packed(const SiteDecision& decision) noexcept {
  const Placement& placement = decision.placement;
  return placement.align | placement.offset << 8 | placement.pad << 16 | kDecided |
         (decision.has_locks ? kHasLocks : 0);
}

}  // namespace

bool SitePlacements::start() noexcept {
  if (!decisions_) decisions_ = map_private<std::atomic<uint32_t>>(uint32_t{kLastSite} + 1);
  return decisions_;
}

void SitePlacements::reset_after_fork() noexcept {
  decisions_ = nullptr;
}

bool SitePlacements::decide(SiteId site, const SiteDecision& decision) noexcept {
  uint32_t open = kOpen;
  return decisions_ && site != kNoSite &&
         decisions_[site].compare_exchange_strong(open, packed(decision), std::memory_order_relaxed);
}

SiteDecision SitePlacements::of(SiteId site) const noexcept {
  const uint32_t word = word_of(site);
  if (word == kOpen) return {};
  return {{word & 0xff, word >> 8 & 0xff, word >> 16 & 0xff}, (word & kHasLocks) != 0};
}

}  // namespace hpcrun

#include "hpcrun/memory/isolating.h"

namespace hpcrun {

constinit std::atomic<const Isolation*> isolation{nullptr};

bool isolates_pages() noexcept {
  return isolation.load(std::memory_order_acquire);
}

void ask_to_isolate(const PageVerdict& verdict) noexcept {
  const Isolation* const with = isolation.load(std::memory_order_acquire);
  if (!with) return;
  const PageRequest page{verdict.page, verdict.is_allocation, verdict.share_ppm};
  if (!verdict.has_locks && !verdict.has_true_sharing) return with->isolate(page);
  with->decline(page, verdict.has_locks ? WhyShared::AtomicUse : WhyShared::TrueSharing);
}

void forget_isolating() noexcept {
  isolation.store(nullptr, std::memory_order_relaxed);
}

}  // namespace hpcrun

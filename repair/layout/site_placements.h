#pragma once
// Keeps the decision on each allocation site: where its allocations lie, and whether locks in them get lines
// of their own. A site is decided once. One per process, shared by all threads without locks.
// Async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/heap/allocation_map.h"
#include "hpcrun/model/placement.h"

namespace hpcrun {

struct SiteDecision {
  Placement placement = kAsAllocated;
  bool has_locks = false;

  bool operator==(const SiteDecision&) const = default;
};

class SitePlacements {
 public:
  // Reserves 128 KiB, which the kernel provides as they are used. Returns false if there is no memory; then
  // nothing is ever decided.
  bool start() noexcept;

  // Resets the table in a forked child, which has none of the parent's decisions.
  void reset_after_fork() noexcept;

  // Stores a decision. Returns false if the site was decided already, or cannot be.
  bool decide(SiteId site, const SiteDecision& decision) noexcept;

  bool is_decided(SiteId site) const noexcept { return word_of(site) != kOpen; }

  // Returns the decision; kAsAllocated if there is none yet.
  SiteDecision of(SiteId site) const noexcept;

 private:
  static constexpr uint32_t kOpen = 0;

  uint32_t word_of(SiteId site) const noexcept {
    return decisions_ ? decisions_[site].load(std::memory_order_relaxed) : kOpen;
  }

  std::atomic<uint32_t>* decisions_ = nullptr;  // by number
};

}  // namespace hpcrun

#pragma once
// What was decided of each allocation site: where its allocations lie, and whether locks in them are to get
// lines of their own. A site is decided once. Shared by all threads of a process, without locks;
// async-signal-safe.

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
  // Takes 128 KiB from the kernel, as they are used. False: there are none, and nothing is ever decided.
  bool start() noexcept;

  // In a forked child, which has none of the parent's.
  void forget() noexcept;

  // False where the site was decided already, or cannot be.
  bool decide(SiteId site, const SiteDecision& decision) noexcept;

  bool is_decided(SiteId site) const noexcept { return word_of(site) != kOpen; }

  // That of a site that was not decided: as allocated.
  SiteDecision of(SiteId site) const noexcept;

 private:
  static constexpr uint32_t kOpen = 0;

  uint32_t word_of(SiteId site) const noexcept {
    return decisions_ ? decisions_[site].load(std::memory_order_relaxed) : kOpen;
  }

  std::atomic<uint32_t>* decisions_ = nullptr;  // by number
};

}  // namespace hpcrun

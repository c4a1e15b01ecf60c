#include "hpcrun/heap/allocation_sites.h"

#include <bit>

#include "hpcrun/guest/private_mapping.h"

namespace hpcrun {

namespace {

constexpr uint32_t kBeingGivenOut = 0;
constexpr uint64_t kRoundedUp = uint64_t{1} << 63;  // set in no size
constexpr uint32_t kNobodys = UINT32_MAX;           // no number was left

uint64_t key_of(uint64_t path, uint64_t bytes) noexcept {
  const uint64_t key = (path ^ bytes * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
  return key ? key : 1;
}

}  // namespace

bool AllocationSites::start() noexcept {
  if (!slots_) slots_ = map_private<Slot>(kSlots);
  if (!sites_) sites_ = map_private<AllocationSite>(uint32_t{kLastSite} + 1);
  return slots_ && sites_;
}

void AllocationSites::populate() noexcept {
  constexpr uint32_t kPopulated = ((1 << 3) - 1) * kFirstSlots;  // three levels, 112 KiB
  if (slots_) populate_own_memory(slots_, kPopulated * sizeof(Slot));
}

void AllocationSites::reset_after_fork() noexcept {
  slots_ = nullptr;
  sites_ = nullptr;
  given_out_.store(0, std::memory_order_relaxed);
}

// Returns the slot of the key, or a free one that becomes it. There are more slots than numbers.
AllocationSites::Slot* AllocationSites::slot_of(uint64_t key, bool make) noexcept {
  for (uint32_t level = 0; level < kLevels; ++level) {
    for (uint32_t step = 0; step < tries(level); ++step) {
      Slot& slot = tried(key, level, step);
      uint64_t found = slot.key.load(std::memory_order_acquire);
      if (found == key) return &slot;
      if (found != 0) continue;
      if (!make) return nullptr;
      if (slot.key.compare_exchange_strong(found, key, std::memory_order_acq_rel) || found == key)
        return &slot;
    }
  }
  return nullptr;
}

// The first thread assigns the number. A thread that arrives while it does so gets none this time.
SiteId AllocationSites::number_at(Slot& slot, const AllocationSite& site) noexcept {
  uint32_t number = slot.number.load(std::memory_order_acquire);
  if (number != kBeingGivenOut) return number == kNobodys ? kNoSite : static_cast<SiteId>(number);
  const uint32_t next = given_out_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (next > kLastSite) {
    given_out_.store(kLastSite, std::memory_order_relaxed);
    slot.number.store(kNobodys, std::memory_order_release);
    return kNoSite;
  }
  sites_[next] = site;
  if (slot.number.compare_exchange_strong(number, next, std::memory_order_acq_rel))
    return static_cast<SiteId>(next);
  return number == kNobodys ? kNoSite
                            : static_cast<SiteId>(number);  // and the number that was taken stays unused
}

SiteId AllocationSites::number_of(uint64_t path, const AllocationSite& site) noexcept {
  if (!slots_ || !sites_) return kNoSite;
  Slot* exact = slot_of(key_of(path, site.bytes), false);
  if (exact) return number_at(*exact, site);
  const bool may_give_out = count() < kLastSite;  // and slots are left
  Slot* const whole = slot_of(key_of(path, 0), may_give_out);
  if (!whole) return kNoSite;
  // Half of the numbers are reserved for contexts without a size.
  const bool tells_sizes =
      count() < kLastSite / 2 && whole->sizes.load(std::memory_order_relaxed) < kMaxSizes;
  exact = tells_sizes ? slot_of(key_of(path, site.bytes), true) : nullptr;
  if (exact) {
    whole->sizes.fetch_add(1, std::memory_order_relaxed);
    return number_at(*exact, site);
  }
  AllocationSite rounded = site;
  rounded.bytes = std::bit_ceil(site.bytes);
  rounded.varies = true;
  Slot* const of_class = slot_of(key_of(path, rounded.bytes | kRoundedUp), may_give_out);
  return of_class ? number_at(*of_class, rounded) : kNoSite;
}

AllocationSite AllocationSites::site(SiteId number) const noexcept {
  return sites_ && number ? sites_[number] : AllocationSite{};
}

}  // namespace hpcrun

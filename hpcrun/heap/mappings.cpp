#include "hpcrun/heap/mappings.h"

#include <cassert>

#include "hpcrun/guest/private_mapping.h"

namespace hpcrun {

namespace {

constexpr unsigned kPageBits = 12;
constexpr unsigned kSiteBits = 15;
static_assert(kLastSite < 1u << kSiteBits);
static_assert(AllocationMap::kAddressBits - kPageBits + kSiteBits <= 64);
constexpr uint64_t kBeingFilled = 1;  // not a page number in use: the first page is never mapped

uint64_t begin_of(uint64_t key) noexcept {
  return key >> kSiteBits << kPageBits;
}

}  // namespace

bool Mappings::start() noexcept {
  if (!slots_) slots_ = map_private<Slot>(kSlots);
  return slots_;
}

void Mappings::reset_after_fork() noexcept {
  slots_ = nullptr;
}

Mappings::Slot& Mappings::slot(uint64_t begin, uint32_t step) const noexcept {
  const uint64_t hash = (begin >> kPageBits) * 0x9e3779b97f4a7c15u;
  return slots_[((hash >> 32) + step) % kSlots];
}

bool Mappings::add(uint64_t begin, uint64_t bytes, SiteId site) noexcept {
  assert(begin % (uint64_t{1} << kPageBits) == 0 && site != kNoSite && site <= kLastSite);
  if (!slots_ || begin >> AllocationMap::kAddressBits) return false;
  for (uint32_t step = 0; step < kTries; ++step) {
    Slot& at = slot(begin, step);
    uint64_t free = 0;
    if (!at.key.compare_exchange_strong(free, kBeingFilled, std::memory_order_acquire)) continue;
    at.bytes.store(bytes, std::memory_order_relaxed);
    at.number.store(kNone, std::memory_order_relaxed);
    at.key.store(begin >> kPageBits << kSiteBits | site, std::memory_order_release);
    return true;
  }
  return false;
}

uint64_t Mappings::remove(uint64_t begin) noexcept {
  if (!slots_) return kNone;
  for (uint32_t step = 0; step < kTries; ++step) {
    Slot& at = slot(begin, step);
    const uint64_t key = at.key.load(std::memory_order_acquire);
    if (key <= kBeingFilled || begin_of(key) != begin) continue;
    at.key.store(kBeingFilled, std::memory_order_relaxed);
    const uint64_t number = at.number.load(std::memory_order_acquire);
    at.key.store(0, std::memory_order_release);
    return number;
  }
  return kNone;
}

bool Mappings::find(uint64_t address, FoundMapping& out) const noexcept {
  out = {};
  for (uint32_t i = 0; slots_ && i < kSlots; ++i) {
    const uint64_t key = slots_[i].key.load(std::memory_order_acquire);
    if (key <= kBeingFilled) continue;
    const uint64_t begin = begin_of(key), bytes = slots_[i].bytes.load(std::memory_order_relaxed);
    if (address < begin || address - begin >= bytes || begin < out.begin) continue;
    out = {begin, bytes, static_cast<SiteId>(key & kLastSite), i};
  }
  return out.site != kNoSite;
}

uint64_t Mappings::number_of(const FoundMapping& found, uint64_t number) noexcept {
  Slot& at = slots_[found.slot];
  if (begin_of(at.key.load(std::memory_order_acquire)) != found.begin) return kNone;
  uint64_t known = kNone;
  if (at.number.compare_exchange_strong(known, number, std::memory_order_acq_rel)) known = number;
  return begin_of(at.key.load(std::memory_order_acquire)) == found.begin ? known : kNone;
}

}  // namespace hpcrun

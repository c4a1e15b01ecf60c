#include "repair/locks/shadow_table.h"

namespace hpcrun {

constinit ShadowTable shadow_table{};

ShadowTable::Place* ShadowTable::place_of(const volatile void* lock) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(lock);
  uint32_t at = static_cast<uint32_t>(address * 0x9e3779b97f4a7c15u >> 32) % kPlaces;
  for (uint32_t i = 0; i < kMaxProbes; ++i, at = (at + 1) % kPlaces) {
    Place& place = places_[at];
    uintptr_t here = place.lock.load(std::memory_order_relaxed);
    if (here == 0 && place.lock.compare_exchange_strong(here, address, std::memory_order_relaxed))
      return &place;
    if (here == address) return &place;
  }
  return nullptr;
}

ShadowLock* ShadowTable::take_new() noexcept {
  uint32_t number = given_out_.load(std::memory_order_relaxed);
  while (number < kMaxShadows)
    if (given_out_.compare_exchange_weak(number, number + 1, std::memory_order_relaxed))
      return &shadows_[number];
  return nullptr;
}

ShadowLock* ShadowTable::take(const void* lock) noexcept {
  Place* const place = place_of(lock);
  if (!place) return nullptr;
  const uint32_t known = place->shadow.load(std::memory_order_relaxed);
  if (known == kLeft) return nullptr;
  if (known != kUnknown && known != kRefused) return &shadows_[known - 1];
  ShadowLock* const shadow = take_new();
  if (shadow) place->shadow.store(static_cast<uint32_t>(shadow - shadows_) + 1, std::memory_order_relaxed);
  return shadow;
}

// Called at each lock operation, so a known result is only read. Otherwise all threads that take the lock
// would contend for its entry.
bool ShadowTable::is_first_refusal(const volatile void* lock) noexcept {
  Place* const place = place_of(lock);
  uint32_t known = kUnknown;
  return place && place->shadow.load(std::memory_order_relaxed) == kUnknown &&
         place->shadow.compare_exchange_strong(known, kRefused, std::memory_order_relaxed);
}

void ShadowTable::leave(const void* lock) noexcept {
  if (Place* const place = place_of(lock)) place->shadow.store(kLeft, std::memory_order_relaxed);
}

bool ShadowTable::is_left(const void* lock) noexcept {
  const Place* const place = place_of(lock);
  return !place || place->shadow.load(std::memory_order_relaxed) == kLeft;
}

}  // namespace hpcrun

#include "repair/locks/shadow_table.h"

namespace hpcrun {

constinit ShadowTable shadow_table{};

ShadowTable::Slot* ShadowTable::slot_of(const volatile void* lock) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(lock);
  uint32_t at = static_cast<uint32_t>(address * 0x9e3779b97f4a7c15u >> 32) % kSlots;
  for (uint32_t i = 0; i < kMaxProbes; ++i, at = (at + 1) % kSlots) {
    Slot& slot = slots_[at];
    uintptr_t here = slot.lock.load(std::memory_order_relaxed);
    if (here == 0 && slot.lock.compare_exchange_strong(here, address, std::memory_order_relaxed))
      return &slot;
    if (here == address) return &slot;
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
  Slot* const slot = slot_of(lock);
  if (!slot) return nullptr;
  const uint32_t known = slot->shadow.load(std::memory_order_relaxed);
  if (known == kLeft) return nullptr;
  if (known != kUnknown && known != kRefused) return &shadows_[known - 1];
  ShadowLock* const shadow = take_new();
  if (shadow) slot->shadow.store(static_cast<uint32_t>(shadow - shadows_) + 1, std::memory_order_relaxed);
  return shadow;
}

// Called at each lock operation, so a known result is only read. Otherwise all threads that take the lock
// would contend for its entry.
bool ShadowTable::is_first_refusal(const volatile void* lock) noexcept {
  Slot* const slot = slot_of(lock);
  uint32_t known = kUnknown;
  return slot && slot->shadow.load(std::memory_order_relaxed) == kUnknown &&
         slot->shadow.compare_exchange_strong(known, kRefused, std::memory_order_relaxed);
}

void ShadowTable::leave(const void* lock) noexcept {
  if (Slot* const slot = slot_of(lock)) slot->shadow.store(kLeft, std::memory_order_relaxed);
}

bool ShadowTable::is_left(const void* lock) noexcept {
  const Slot* const slot = slot_of(lock);
  return !slot || slot->shadow.load(std::memory_order_relaxed) == kLeft;
}

}  // namespace hpcrun

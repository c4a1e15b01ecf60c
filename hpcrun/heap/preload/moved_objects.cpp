#include "hpcrun/heap/preload/moved_objects.h"

#include <string.h>

namespace hpcrun {

namespace {

constexpr uint64_t kOffsetMask = MovedObjects::kGranule - 1;  // addresses have these bits free
static_assert(MovedObjects::kMaxOffset / MovedObjects::kGranule <= kOffsetMask);

uint64_t address_of(const void* at) noexcept {
  return reinterpret_cast<uintptr_t>(at);
}

// The two hashes are independent: if one of an address's sets is full, the other one need not be.
uint64_t hash_of(uint64_t address, unsigned which) noexcept {
  const uint64_t hash = address / MovedObjects::kGranule * 0x9e3779b97f4a7c15u;
  return which ? hash >> 24 : hash >> 44;
}

}  // namespace

bool MovedObjects::add(void* at, size_t offset, size_t bytes) noexcept {
  const uint64_t address = address_of(at);
  const auto of_class = static_cast<uint8_t>(1u << class_of(address));
  if (!(classes_.load(std::memory_order_relaxed) & of_class))
    classes_.fetch_or(of_class, std::memory_order_relaxed);
  memcpy(static_cast<char*>(at) - kGranule, &bytes, sizeof bytes);
  for (unsigned which = 0; which < 2; ++which) {
    if (which) has_spilled_.store(true, std::memory_order_relaxed);
    for (std::atomic<uint64_t>& way : sets_[hash_of(address, which) % kSets].ways) {
      uint64_t free = 0;
      if (way.load(std::memory_order_relaxed) == 0 &&
          way.compare_exchange_strong(free, address | offset / kGranule, std::memory_order_release))
        return true;
    }
  }
  return false;
}

std::atomic<uint64_t>* MovedObjects::find(const void* at) const noexcept {
  const uint64_t address = address_of(at);
  if (address & kOffsetMask) return nullptr;
  const unsigned sets = has_spilled_.load(std::memory_order_relaxed) ? 2 : 1;
  for (unsigned which = 0; which < sets; ++which)
    for (std::atomic<uint64_t>& way : sets_[hash_of(address, which) % kSets].ways)
      if ((way.load(std::memory_order_acquire) & ~kOffsetMask) == address) return &way;
  return nullptr;
}

void* MovedObjects::base_of(void* at) const noexcept {
  const std::atomic<uint64_t>* const way = find(at);
  return way ? static_cast<char*>(at) - (way->load(std::memory_order_relaxed) & kOffsetMask) * kGranule : at;
}

void* MovedObjects::take(void* at) noexcept {
  std::atomic<uint64_t>* const way = find(at);
  if (!way) return at;
  return static_cast<char*>(at) - (way->exchange(0, std::memory_order_relaxed) & kOffsetMask) * kGranule;
}

size_t MovedObjects::bytes_of(const void* at) noexcept {
  size_t bytes;
  memcpy(&bytes, static_cast<const char*>(at) - kGranule, sizeof bytes);
  return bytes;
}

}  // namespace hpcrun

#include "hpcrun/heap/recorded_objects.h"

#include "hpcrun/guest/private_mapping.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/heap/allocation_map.h"

namespace hpcrun {

namespace {

constexpr unsigned kNumberBits = 64 - AllocationMap::kAddressBits + 4;  // addresses are multiples of 16
static_assert(AllocationMap::kGranule == 16);
constexpr uint64_t kLastNumber = (uint64_t{1} << kNumberBits) - 1;

uint64_t key_of(uint64_t begin) noexcept {
  return begin / AllocationMap::kGranule << kNumberBits;
}
bool is_of(uint64_t packed, uint64_t key) noexcept {
  return packed && (packed & ~kLastNumber) == key;
}

}  // namespace

bool RecordedObjects::start() noexcept {
  if (!places_) places_ = map_private<std::atomic<uint64_t>>(kPlaces);
  return places_;
}

void RecordedObjects::reset_after_fork() noexcept {
  places_ = nullptr;
  given_out_.store(0, std::memory_order_relaxed);
}

std::atomic<uint64_t>& RecordedObjects::place(uint64_t begin, uint32_t step) const noexcept {
  const uint64_t hash = begin / AllocationMap::kGranule * 0x9e3779b97f4a7c15u;
  return places_[((hash >> 32) + step) % kPlaces];
}

uint64_t RecordedObjects::number_of(uint64_t begin, bool& is_new) noexcept {
  is_new = false;
  if (!places_) return kNone;
  const uint64_t key = key_of(begin);
  // Tries again if another object took the place.
  for (uint32_t attempt = 0; attempt < kTries; ++attempt) {
    std::atomic<uint64_t>* free = nullptr;
    for (uint32_t step = 0; step < kTries; ++step) {
      std::atomic<uint64_t>& at = place(begin, step);
      const uint64_t found = at.load(std::memory_order_acquire);
      if (is_of(found, key)) return found & kLastNumber;
      if (!found && !free) free = &at;
    }
    const uint64_t number = free ? take_number() : kNone;
    if (number == kNone) return kNone;
    uint64_t found = 0;
    if (free->compare_exchange_strong(found, key | number, std::memory_order_acq_rel)) {
      is_new = true;
      return number;
    }
  }
  return kNone;
}

uint64_t RecordedObjects::take_number() noexcept {
  if (given_out_.load(std::memory_order_relaxed) >= kLastNumber) return kNone;
  const uint64_t number = given_out_.fetch_add(1, std::memory_order_relaxed) + 1;
  return number <= kLastNumber ? number : kNone;
}

uint64_t RecordedObjects::remove(uint64_t begin) noexcept {
  if (!places_) return kNone;
  const uint64_t key = key_of(begin);
  for (uint32_t step = 0; step < kTries; ++step) {
    std::atomic<uint64_t>& at = place(begin, step);
    uint64_t found = at.load(std::memory_order_acquire);
    if (is_of(found, key) && at.compare_exchange_strong(found, 0, std::memory_order_acq_rel))
      return found & kLastNumber;
  }
  return kNone;
}

}  // namespace hpcrun

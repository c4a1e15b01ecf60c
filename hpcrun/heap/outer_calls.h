#pragma once
// Finds the callers of `operator new` and of other small functions around the allocator without a walk. It
// stores, by the return address of a call of the allocator, how far above its frame the next return address
// was found. Shared by all threads and by libprof-heap.so, without locks. Async-signal-safe. Zeroed
// memory is a valid empty object.

#include <atomic>
#include <cstdint>

namespace hpcrun {

// Reads a word relative to `frame`, the canonical frame address of the allocator's function.
inline uint64_t word_above(const void* frame, int64_t distance) noexcept {
  uint64_t word;
  __builtin_memcpy(&word, static_cast<const char*>(frame) + distance, sizeof word);
  return word;
}

inline uint64_t caller_at(const void* frame) noexcept {
  return word_above(frame, -static_cast<int64_t>(sizeof(uint64_t)));
}

class OuterCalls {
 public:
  // Stores a distance. Returns false if another one is known.
  bool learn(uint64_t caller, uint64_t distance) noexcept {
    const uint64_t known = distance_of(caller);
    if (known != 0) return known == distance;
    if (distance < kMaxDistance)
      distances_[caller % kDistances].store(caller << kDistanceBits | distance, std::memory_order_relaxed);
    return true;
  }

  // Returns the distance, or 0 if it is not known.
  uint64_t distance_of(uint64_t caller) const noexcept {
    const uint64_t known = distances_[caller % kDistances].load(std::memory_order_relaxed);
    return known >> kDistanceBits == caller ? known % kMaxDistance : 0;
  }

  // Returns true if the word at this distance may be read. This frame may be smaller than the one for which
  // the distance was learned, and the stack may end above it. Only the page of the return address is known to
  // exist.
  static bool is_readable(const void* frame, uint64_t distance) noexcept {
    const auto at = reinterpret_cast<uint64_t>(frame);
    return (at - sizeof(uint64_t)) / kPageBytes == (at + distance + sizeof(uint64_t) - 1) / kPageBytes;
  }

 private:
  static constexpr uint32_t kDistances = 64;
  static constexpr unsigned kDistanceBits = 16;  // next to an address
  static constexpr uint64_t kMaxDistance = uint64_t{1} << kDistanceBits;
  static constexpr uint64_t kPageBytes = 4096;

  std::atomic<uint64_t> distances_[kDistances];  // return address and distance, packed
};

}  // namespace hpcrun

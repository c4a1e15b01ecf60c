#pragma once
// The callers of `operator new` and of other small functions around the allocator, without a walk: how far
// above the frame of a call of the allocator the next return address was found, by the return address of that
// call. Shared by all threads and by libprof-heap.so, without locks; async-signal-safe. Zeroed memory is
// a valid one that knows none.

#include <atomic>
#include <cstdint>

namespace hpcrun {

// `frame` is the canonical frame address of the allocator's function.
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
  // False: another distance is known.
  bool learn(uint64_t caller, uint64_t distance) noexcept {
    const uint64_t known = distance_of(caller);
    if (known != 0) return known == distance;
    if (distance < kMaxDistance)
      distances_[caller % kDistances].store(caller << kDistanceBits | distance, std::memory_order_relaxed);
    return true;
  }

  // 0: not known.
  uint64_t distance_of(uint64_t caller) const noexcept {
    const uint64_t known = distances_[caller % kDistances].load(std::memory_order_relaxed);
    return known >> kDistanceBits == caller ? known % kMaxDistance : 0;
  }

  // The frame may be smaller than the one that the distance is of, and the stack end above it: of that only
  // the page is known to be there on which the return address lies.
  static bool is_readable(const void* frame, uint64_t distance) noexcept {
    const auto at = reinterpret_cast<uint64_t>(frame);
    return (at - sizeof(uint64_t)) / kPageBytes == (at + distance + sizeof(uint64_t) - 1) / kPageBytes;
  }

 private:
  static constexpr uint32_t kDistances = 64;
  static constexpr unsigned kDistanceBits = 16;  // beside an address
  static constexpr uint64_t kMaxDistance = uint64_t{1} << kDistanceBits;
  static constexpr uint64_t kPageBytes = 4096;

  std::atomic<uint64_t> distances_[kDistances];  // return address and distance, packed
};

}  // namespace hpcrun

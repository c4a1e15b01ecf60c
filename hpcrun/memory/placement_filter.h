#pragma once
// Which calls of the allocator are worth a question: those of a size, and from a return address, that some
// site which is placed has. May say yes of others. Shared by all threads and by libhpcrun-memory.so, without
// locks; async-signal-safe. Zeroed memory is a valid one that says no.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class PlacementFilter {
 public:
  bool may_hold(uint64_t bytes, uint64_t caller) const noexcept {
    return sizes_.holds(place_of_size(bytes)) && callers_.holds(place_of_caller(caller));
  }

  // Inclusive.
  void add_sizes(uint64_t least, uint64_t most) noexcept {
    for (uint64_t bytes = least; bytes <= most && bytes - least < kBits; ++bytes)
      sizes_.add(place_of_size(bytes));
  }

  // The return address of calls of the allocator.
  void add_caller(uint64_t address) noexcept { callers_.add(place_of_caller(address)); }

 private:
  static constexpr uint32_t kBits = 4096;

  struct Bits {
    std::atomic<uint64_t> words[kBits / 64];

    bool holds(uint32_t place) const noexcept {
      return words[place / 64].load(std::memory_order_relaxed) >> place % 64 & 1;
    }
    void add(uint32_t place) noexcept {
      words[place / 64].fetch_or(uint64_t{1} << place % 64, std::memory_order_relaxed);
    }
  };

  // Sizes below kBits have a place each, and of kBits consecutive ones no two are at the same.
  static uint32_t place_of_size(uint64_t bytes) noexcept { return bytes % kBits; }
  static uint32_t place_of_caller(uint64_t address) noexcept {
    return static_cast<uint32_t>(address * 0x9e3779b97f4a7c15u >> 52);
  }
  static_assert(uint64_t{1} << (64 - 52) == kBits);

  Bits sizes_;
  Bits callers_;
};

}  // namespace hpcrun

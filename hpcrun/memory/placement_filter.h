#pragma once
// Which calls of the allocator are worth a question: those of a size, and from return addresses, that some
// site which is placed has. May say yes of others. Shared by all threads and by libhpcrun-memory.so, without
// locks; async-signal-safe. Zeroed memory is a valid one that says no.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class PlacementFilter {
 public:
  // `frame`: canonical frame address of the allocator's function.
  bool may_hold(uint64_t bytes, const void* frame) const noexcept {
    if (!sizes_.holds(place_of_size(bytes))) return false;
    const uint64_t caller = word_at(frame, -static_cast<int64_t>(sizeof(uint64_t)));
    return callers_.holds(place_of_code(caller)) && may_hold_outer(caller, frame);
  }

  // Inclusive.
  void add_sizes(uint64_t least, uint64_t most) noexcept {
    for (uint64_t bytes = least; bytes <= most && bytes - least < kBits; ++bytes)
      sizes_.add(place_of_size(bytes));
  }

  // Return addresses of calls of the allocator, and of the function that calls it; all of these where `outer`
  // is 0.
  void add_path(uint64_t caller, uint64_t outer) noexcept {
    outer ? outers_.add(place_of_code(outer)) : any_outer_.add(place_of_code(caller));
    callers_.add(place_of_code(caller));
  }

  // So many bytes above the frame of a call with this return address the next return address was found.
  // Before that, and where it differs, all calls with it are worth a question.
  void learn_distance(uint64_t caller, uint64_t distance) noexcept {
    if (!callers_.holds(place_of_code(caller))) return;
    const uint64_t known = distance_of(caller);
    if (known != 0 && known != distance)
      any_outer_.add(place_of_code(caller));
    else if (known == 0 && distance < kMostDistance)
      distances_[caller % kDistances].store(caller << kDistanceBits | distance, std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kBits = 4096;
  static constexpr uint32_t kDistances = 64;
  static constexpr unsigned kDistanceBits = 16;  // beside an address
  static constexpr uint64_t kMostDistance = uint64_t{1} << kDistanceBits;
  static constexpr uint64_t kPageBytes = 4096;

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
  static uint32_t place_of_code(uint64_t address) noexcept {
    return static_cast<uint32_t>(address * 0x9e3779b97f4a7c15u >> 52);
  }
  static_assert(uint64_t{1} << (64 - 52) == kBits);

  // Apart, so that a call which is not of such a place needs no more registers than without.
  [[gnu::noinline]] bool may_hold_outer(uint64_t caller, const void* frame) const noexcept {
    const uint64_t distance = distance_of(caller);
    return distance == 0 || any_outer_.holds(place_of_code(caller)) || !is_readable(frame, distance) ||
           outers_.holds(place_of_code(word_at(frame, static_cast<int64_t>(distance))));
  }

  // The frame may be smaller than the one that the distance is of, and the stack end above it: of that only
  // the page is known to be there on which the return address lies.
  static bool is_readable(const void* frame, uint64_t distance) noexcept {
    const auto at = reinterpret_cast<uint64_t>(frame);
    return (at - sizeof(uint64_t)) / kPageBytes == (at + distance + sizeof(uint64_t) - 1) / kPageBytes;
  }

  static uint64_t word_at(const void* frame, int64_t distance) noexcept {
    uint64_t word;
    __builtin_memcpy(&word, static_cast<const char*>(frame) + distance, sizeof word);
    return word;
  }

  // 0: not known.
  uint64_t distance_of(uint64_t caller) const noexcept {
    const uint64_t known = distances_[caller % kDistances].load(std::memory_order_relaxed);
    return known >> kDistanceBits == caller ? known % kMostDistance : 0;
  }

  Bits sizes_;
  Bits callers_;
  Bits outers_;
  Bits any_outer_;  // callers of which the function that calls them does not matter
  std::atomic<uint64_t> distances_[kDistances];  // return address and distance, packed
};

}  // namespace hpcrun

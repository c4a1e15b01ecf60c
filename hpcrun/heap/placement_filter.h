#pragma once
// Filters calls of the allocator: those with the size and the return addresses of a placed site must ask the
// runtime where to place. May also hold others. Shared by all threads and by libprof-heap.so, without
// locks. Async-signal-safe. Zeroed memory is a valid empty object.

#include <atomic>
#include <cstdint>

#include "hpcrun/heap/outer_calls.h"

namespace hpcrun {

class PlacementFilter {
 public:
  // Returns true if the call may be of a placed site. `frame` is the canonical frame address of the
  // allocator's function.
  bool may_hold(uint64_t bytes, const void* frame) const noexcept {
    if (!sizes_.holds(place_of_size(bytes))) return false;
    const uint64_t caller = caller_at(frame);
    return callers_.holds(place_of_code(caller)) && may_hold_outer(caller, frame);
  }

  // Adds a range of sizes, inclusive.
  void add_sizes(uint64_t least, uint64_t most) noexcept {
    for (uint64_t bytes = least; bytes <= most && bytes - least < kBits; ++bytes)
      sizes_.add(place_of_size(bytes));
  }

  // Adds a return address of calls of the allocator, with that of the function that calls it. If `outer` is
  // 0, calls of that function from anywhere are meant.
  void add_path(uint64_t caller, uint64_t outer) noexcept {
    outer ? outers_.add(place_of_code(outer)) : any_outer_.add(place_of_code(caller));
    callers_.add(place_of_code(caller));
  }

  // Stores how many bytes above the frame of such a call the next return address was found. Until that is
  // known, and if it differs between calls, all calls with this return address pass.
  void learn_distance(uint64_t caller, uint64_t distance) noexcept {
    if (!callers_.holds(place_of_code(caller))) return;
    if (!distances_.learn(caller, distance)) any_outer_.add(place_of_code(caller));
  }

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

  // Returns a place for a size; kBits consecutive sizes have different places.
  static uint32_t place_of_size(uint64_t bytes) noexcept { return bytes % kBits; }
  static uint32_t place_of_code(uint64_t address) noexcept {
    return static_cast<uint32_t>(address * 0x9e3779b97f4a7c15u >> 52);
  }
  static_assert(uint64_t{1} << (64 - 52) == kBits);

  // Not inlined, so that other calls need no more registers than without this check.
  [[gnu::noinline]] bool may_hold_outer(uint64_t caller, const void* frame) const noexcept {
    const uint64_t distance = distances_.distance_of(caller);
    return distance == 0 || any_outer_.holds(place_of_code(caller)) ||
           !OuterCalls::is_readable(frame, distance) ||
           outers_.holds(place_of_code(word_above(frame, static_cast<int64_t>(distance))));
  }

  Bits sizes_;
  Bits callers_;
  Bits outers_;
  Bits any_outer_;  // callers whose own callers do not matter
  OuterCalls distances_;
};

}  // namespace hpcrun

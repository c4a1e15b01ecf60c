#pragma once
// Chooses which sampled accesses are watched, as Witch does (Wen et al., ASPLOS 2018, section 4.2). A sample
// takes a free breakpoint. If none is free, the n-th sample since one was free replaces a watch with
// probability kBreakpoints / n. Otherwise watches that are never decided would keep all breakpoints. Belongs
// to one thread. Zeroed memory is a valid object. Async-signal-safe.

#include <bit>
#include <cstdint>

namespace hpcrun {

constexpr uint32_t kBreakpoints = 4;  // debug registers of a processor

class Reservoir {
 public:
  static constexpr uint32_t kNone = kBreakpoints;

  // Returns the breakpoint for a sample, or kNone. `used` has a bit for each breakpoint in use. `random`: any
  // 64 bits.
  uint32_t take(uint32_t used, uint64_t random) noexcept {
    const uint32_t free = ~used & ((1u << kBreakpoints) - 1);
    if (free) {
      seen_ = kBreakpoints;
      return static_cast<uint32_t>(std::countr_zero(free));
    }
    ++seen_;
    const uint64_t drawn = random % seen_;
    return drawn < kBreakpoints ? static_cast<uint32_t>(drawn) : kNone;
  }

 private:
  uint64_t seen_;  // samples since a breakpoint was free, with those that are watched
};

}  // namespace hpcrun

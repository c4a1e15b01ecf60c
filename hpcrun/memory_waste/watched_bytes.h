#pragma once
// Decides whether a sampled store or load was wasted, by the accesses to its bytes that follow. Each byte is
// decided separately, by the first access that decides it. Async-signal-safe.

#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

constexpr uint32_t kMaxWatchedBytes = 8;  // of a hardware breakpoint

// What an access did to watched bytes.
enum class Touch : uint8_t {
  Load,
  Store,
  LoadAndStore,  // first the load
  KernelLoad,    // the kernel's, for the program: a use, but not one of the program's loads
  Unknown,
};

// One bit for each watched byte.
using ByteMask = uint8_t;

struct WatchedBytes {
  uint64_t address = 0;
  WasteKind kind = WasteKind::DeadStore;
  uint8_t count = 0;
  ByteMask left = 0;          // not decided yet
  uint16_t access_bytes = 0;  // size of the sampled access, of which these bytes are a random piece
  uint8_t value[kMaxWatchedBytes] = {};  // as the sampled access stored or loaded it
};

// The bytes that an access decided.
struct Decision {
  ByteMask wasted = 0;
  ByteMask used = 0;
  bool is_lost = false;  // the bytes left can no longer be decided
};

constexpr ByteMask all_bytes(uint8_t count) noexcept {
  return static_cast<ByteMask>((1u << count) - 1);
}

// Returns the bytes that an access to `bytes` at `address` overlaps.
ByteMask overlap(const WatchedBytes& watched, uint64_t address, uint64_t bytes) noexcept;

// Decides bytes by an access to `touched`, and takes them out of `left`. `now`: the bytes' values after it.
Decision decide(WatchedBytes& watched, Touch touch, ByteMask touched, const uint8_t* now) noexcept;

// Returns how many bytes of the sampled access some of its watched bytes represent.
uint64_t represented_bytes(const WatchedBytes& watched, ByteMask bytes) noexcept;

// Chooses the bytes to watch of an access: a random aligned piece, in proportion to its length.
WatchedBytes choose_piece(WasteKind kind, uint64_t address, uint16_t bytes, uint64_t random) noexcept;

// The smallest range that a breakpoint can watch and that contains the bytes.
struct BreakpointRange {
  uint64_t address;
  uint8_t length;  // 1, 2, 4 or 8
};
BreakpointRange range_of(const WatchedBytes& watched) noexcept;

}  // namespace hpcrun

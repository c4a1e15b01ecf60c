#pragma once
// A record of an Accesses stream that is no access: how far something went in a loop at a cache line
// (hpcrun/memory/pace.h), in the CPU time before it. Its address is the line's; its bytes and its object
// stand for what changed and by how much.

#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

constexpr uint64_t kAccessProgress = 32;  // of the bits
static_assert(kAccessProgress < kAccessBits);

// In place of the bytes: the number of what changed, and whether all other threads at the line were held.
constexpr uint64_t progress_bytes(uint16_t value, bool is_alone) {
  return static_cast<uint64_t>(value) << 1 | static_cast<uint64_t>(is_alone);
}
constexpr uint16_t progress_value(uint64_t bytes) {
  return static_cast<uint16_t>(bytes >> 1);
}
constexpr bool progress_is_alone(uint64_t bytes) {
  return (bytes & 1) != 0;
}

// In place of the object: the change, small ones of either sign as small numbers.
constexpr uint64_t progress_object(int64_t change) {
  return (static_cast<uint64_t>(change) << 1) ^ static_cast<uint64_t>(change >> 63);
}
constexpr int64_t progress_change(uint64_t object) {
  return static_cast<int64_t>(object >> 1) ^ -static_cast<int64_t>(object & 1);
}

}  // namespace hpcrun

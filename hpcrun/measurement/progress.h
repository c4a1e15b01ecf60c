#pragma once
// A record of an Accesses stream that is not an access: the progress of a loop at a cache line
// (hpcrun/contention/loop_progress.h) in the CPU time before it. Its address is that of the line. Its bytes
// and its object encode which value changed, and by how much.

#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

constexpr uint64_t kAccessProgress = 32;  // of the bits
static_assert(kAccessProgress < kAccessBits);

// Encodes, in the field of the bytes, the number of the value that changed, and whether all other threads at
// the line were stopped.
constexpr uint64_t progress_bytes(uint16_t value, bool is_alone) {
  return static_cast<uint64_t>(value) << 1 | static_cast<uint64_t>(is_alone);
}
constexpr uint16_t progress_value(uint64_t bytes) {
  return static_cast<uint16_t>(bytes >> 1);
}
[[nodiscard]] constexpr bool progress_is_alone(uint64_t bytes) {
  return (bytes & 1) != 0;
}

// Encodes, in the field of the object, the change. Small changes of either sign become small numbers.
constexpr uint64_t progress_object(int64_t change) {
  return (static_cast<uint64_t>(change) << 1) ^ static_cast<uint64_t>(change >> 63);
}
constexpr int64_t progress_change(uint64_t object) {
  return static_cast<int64_t>(object >> 1) ^ -static_cast<int64_t>(object & 1);
}

}  // namespace hpcrun

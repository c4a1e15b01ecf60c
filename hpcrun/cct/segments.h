#pragma once
// An array in a thread's arena that grows without moving. Segments double in size: an element is located with
// two shifts, and nothing is ever copied or freed, which a handler must not do. Elements start zeroed.
// Async-signal-safe.

#include <bit>
#include <cassert>
#include <cstdint>

#include "hpcrun/guest/arena.h"

namespace hpcrun {

template <typename T, unsigned kFirstLog2>
class SegmentedArray {
 public:
  T& operator[](uint32_t index) noexcept {
    const unsigned segment = segment_of(index);
    assert(segments_[segment] != nullptr);  // ensure() made room for it
    return segments_[segment][index - segment_start(segment)];
  }

  // Makes room for element `index`; must be called for all smaller indices first. Returns false if there is
  // no memory.
  [[nodiscard]] bool ensure(Arena& arena, uint32_t index) noexcept {
    const unsigned segment = segment_of(index);
    assert(segment == 0 || segments_[segment - 1] != nullptr);
    if (segments_[segment] == nullptr) {
      segments_[segment] = arena.allocate_array<T>(segment_size(segment));
    }
    return segments_[segment] != nullptr;
  }

 private:
  static constexpr unsigned segment_of(uint32_t index) {
    return static_cast<unsigned>(std::bit_width(index >> kFirstLog2));
  }
  static constexpr uint32_t segment_start(unsigned segment) {
    return segment == 0 ? 0 : uint32_t{1} << (kFirstLog2 + segment - 1);
  }
  static constexpr size_t segment_size(unsigned segment) {
    return size_t{1} << (segment == 0 ? kFirstLog2 : kFirstLog2 + segment - 1);
  }

  T* segments_[32 - kFirstLog2 + 1] = {};
};

}  // namespace hpcrun

#include "hpcrun/heap/preload/placed_memory.h"

#include <algorithm>

namespace hpcrun {

PlacedRequest placed_request(size_t bytes, size_t align, const PlaceAnswer& answer) noexcept {
  constexpr size_t kMaxBytes = PTRDIFF_MAX / 2;  // the sum with offset and padding does not overflow
  const bool has_place = answer.align != 0 && bytes <= kMaxBytes && align <= kMaxBytes;
  if (!has_place || answer.offset % align != 0) return {};
  const size_t whole = std::max<size_t>({align, answer.align, answer.pad});
  const size_t end = answer.offset + bytes;
  return {whole, (end + answer.pad - 1) / answer.pad * answer.pad, answer.offset};
}

}  // namespace hpcrun

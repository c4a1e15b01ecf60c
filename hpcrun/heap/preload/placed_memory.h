#pragma once
// Memory from the program's own allocator for an allocation with a requested position in its cache lines.

#include <cstddef>
#include <cstdint>

#include "hpcrun/heap/heap_hooks.h"

namespace hpcrun {

// The request to the allocator for a placed allocation. `align` is 0 if there is none.
struct PlacedRequest {
  size_t align = 0;
  size_t bytes = 0;
  size_t offset = 0;
};

// Returns the request for `bytes` at a multiple of `align` (1: any address), as the program requested, at the
// position in `answer`. There is none if both cannot be met, or if the size overflows.
PlacedRequest placed_request(size_t bytes, size_t align, const PlaceAnswer& answer) noexcept;

}  // namespace hpcrun

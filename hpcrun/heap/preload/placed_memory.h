#pragma once
// Memory for an allocation that is to lie at a certain place of its cache lines, from the program's own
// allocator.

#include <cstddef>
#include <cstdint>

#include "hpcrun/heap/heap_hooks.h"

namespace hpcrun {

// What an allocation as placed takes of the allocator. `align` 0: it cannot be had.
struct PlacedRequest {
  size_t align = 0;
  size_t bytes = 0;
  size_t offset = 0;
};

// For `bytes` at an address that is a multiple of `align` (1: any), as the program asked for, which lies as
// it is to be placed. Not where both cannot be had, nor where the sum is no size any more.
PlacedRequest placed_request(size_t bytes, size_t align, const PlaceAnswer& answer) noexcept;

}  // namespace hpcrun

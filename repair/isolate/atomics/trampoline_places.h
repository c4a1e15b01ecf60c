#pragma once
// Finds free address space for trampolines near the code that jumps there, at the same addresses in every
// process that is created afterwards. For one user at a time, in the program's process, while nothing else is
// mapped. Async-signal-safe.

#include <cstddef>
#include <cstdint>

#include "repair/isolate/atomics/mapped_array.h"
#include "repair/isolate/atomics/place_range.h"

namespace hpcrun {

class TrampolinePlaces {
 public:
  // Reads the mappings of the process as they are now. Returns false if there is no memory for them.
  bool begin() noexcept;

  // Returns a free, writable place of `bytes` bytes in the range, or 0 if there is none or the kernel
  // refuses. Pages that have other trampolines are preferred; a new page is mapped only if may_map.
  uint64_t take(PlaceRange range, size_t bytes, bool may_map) noexcept;
  // True if take() would find a place.
  bool has(PlaceRange range, size_t bytes) const noexcept { return look(range, bytes, true).at != 0; }

  uint64_t mapped_bytes() const noexcept { return mapped_bytes_; }

  // Makes all that was taken executable and not writable. Returns false if the kernel refuses.
  bool finish() noexcept;
  // Frees all that was taken.
  void give_up() noexcept;

 private:
  struct Span {
    uint64_t low;
    uint64_t high;
  };
  struct Room {  // of mapped pages
    uint64_t low;
    uint64_t high;
    uint64_t next;  // all above is free
  };
  struct Found {
    uint64_t at = 0;
    uint64_t map_low = 0;  // pages to map first, unless 0
    uint64_t map_high = 0;
  };
  Found look(PlaceRange range, size_t bytes, bool may_map) const noexcept;
  uint64_t look_in_rooms(PlaceRange range, size_t bytes) const noexcept;
  Found look_in_gaps(PlaceRange range, size_t bytes) const noexcept;
  bool map(uint64_t low, uint64_t high) noexcept;
  static void add_occupied(void* places, const struct OwnMapping& mapping) noexcept;

  static constexpr size_t kMaxSpans = 1 << 17;
  MappedArray<Span, kMaxSpans> occupied_;  // by others or by our rooms, sorted
  MappedArray<Span, kMaxSpans> used_;      // by trampolines, sorted
  MappedArray<Room, kMaxSpans> rooms_;     // sorted
  uint64_t mapped_bytes_ = 0;
  bool is_full_ = false;
};

}  // namespace hpcrun

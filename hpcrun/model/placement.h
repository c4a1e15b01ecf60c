#pragma once
// Where allocations of one site should lie so that threads do not meet on cache lines: all that a heap can
// change about an object is at which offset of a line it begins and whether others share its first and last
// line. Each placement that is possible is tried on what threads were seen to do to the bytes of the
// objects, since alignment alone can create sharing as well as remove it. Pure; no allocation;
// async-signal-safe.

#include <cstdint>

namespace hpcrun {

// Of an allocation. What malloc does: {16, 0, 1}.
struct Placement {
  uint32_t align = 16;  // a power of two, 16 to 128: the object begins at a multiple of it, ...
  uint32_t offset = 0;  // ... and so many bytes behind: a multiple of 16, below `align`
  uint32_t pad = 1;     // what the object takes ends at a multiple of it: 1, 64 or 128

  bool operator==(const Placement&) const = default;
};
constexpr Placement kAsAllocated{};

// What one thread did to consecutive bytes of an object.
struct ObjectUse {
  uint32_t thread;
  uint32_t object;  // any number that tells the site's objects apart
  uint64_t offset;  // from the object's begin
  uint32_t bytes;
  bool writes;
  uint64_t accesses;
};

// How much of the uses conflict on lines by false sharing where each object lies alone on its lines and
// begins `offset` bytes behind a line's begin: accesses of the lesser side, summed over lines and pairs of
// threads of which one writes, without bytes that both use. As objects lie in memory, neighbours included:
// with one number for all objects, addresses in place of offsets, and the offset 0. Takes time by the square
// of `count`.
uint64_t conflicts_at(const ObjectUse* uses, uint32_t count, uint32_t offset) noexcept;

struct ChosenPlacement {
  Placement placement;     // kAsAllocated: none helps
  uint64_t conflicts = 0;  // with it
  bool is_close = false;   // none helps, by so little that a few more accesses may say otherwise
};

// `conflicts_now`: as the objects lay when they were seen, those with neighbours included. `align`: what the
// program asks the objects' addresses to be multiples of, a power of two; they stay such. A placement helps
// where it leaves at most a tenth of the conflicts; of those whose numbers differ from the least by chance
// alone, and are at most a fifth, the one with the smallest offset.
ChosenPlacement choose_placement(const ObjectUse* uses, uint32_t count, uint64_t conflicts_now,
                                 uint64_t align = 1) noexcept;

}  // namespace hpcrun

#pragma once
// Chooses a placement for the allocations of one site, so that threads do not share cache lines. A heap can
// only change the offset within a line at which an object starts, and whether other objects share its first
// and last line. Each possible placement is tried on the observed accesses to the objects' bytes, since
// alignment can create sharing as well as remove it. Pure; no allocation; async-signal-safe.

#include <cstdint>

namespace hpcrun {

// Placement of an allocation. malloc's is {16, 0, 1}.
struct Placement {
  // A power of two, 16 to 128: the object starts at a multiple of it, ...
  uint32_t align = 16;
  // ... plus this many bytes: a multiple of 16, less than `align`.
  uint32_t offset = 0;
  // The object's space ends at a multiple of it: 1, 64 or 128.
  uint32_t pad = 1;

  bool operator==(const Placement&) const = default;
};
constexpr Placement kAsAllocated{};

// Accesses of one thread to consecutive bytes of an object.
struct ObjectUse {
  uint32_t thread;
  uint32_t object;  // any number that identifies the object within the site
  uint64_t offset;  // from the object's start
  uint32_t bytes;
  bool writes;
  uint64_t accesses;
};

// Returns the number of accesses that conflict by false sharing if each object has its lines to itself and
// starts `offset` bytes after the start of a line. For each line and each pair of threads of which one
// writes, the accesses of the side with fewer are counted, without bytes that both use. For objects as they
// are in memory, neighbours included: use one number for all objects, addresses as offsets, and offset 0.
// Takes time proportional to the square of `count`.
uint64_t conflicts_at(const ObjectUse* uses, uint32_t count, uint32_t offset) noexcept;

struct ChosenPlacement {
  Placement placement;     // kAsAllocated: no placement helps
  uint64_t conflicts = 0;  // that remain with it
  bool is_close = false;   // no placement helps, but so narrowly that more accesses may change this
};

// Chooses a placement. `conflicts_now`: in the observed layout, including conflicts with neighbours. `align`:
// the alignment that the program requests for the objects, a power of two; it is kept. A placement helps if
// it leaves at most a tenth of the conflicts. Placements within chance of the best one, and with at most a
// fifth of the conflicts, are considered equal; the smallest offset among them is chosen.
ChosenPlacement choose_placement(const ObjectUse* uses, uint32_t count, uint64_t conflicts_now,
                                 uint64_t align = 1) noexcept;

}  // namespace hpcrun

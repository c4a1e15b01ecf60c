#pragma once
// Stacks that were walked, found again: programs come by the same few places over and over, and a stack that
// holds what it held when it was walked need not be walked again. A stack that is found was compared word for
// word (walk_record.h); only where to look for it is a guess.
//
// Stacks that begin at one stack pointer are told apart by the first return address in which they differ, and
// so on: a trie, in a hash table. One thread's, in its arena; forgets what was added longest ago. Not for
// handlers. Zeroed memory is a valid empty one.

#include <cstdint>

#include "hpcrun/guest/arena.h"
#include "hpcrun/unwind/walk_record.h"

namespace hpcrun {

class KnownStacks {
 public:
  static constexpr uint32_t kEntries = 256;
  static constexpr uint32_t kNone = UINT32_MAX;

  WalkRecord record;  // of the walk that comes next

  // The number of the stack on which the calling thread is, below kEntries, or kNone. `tag` is part of what
  // is looked for: the function that was called.
  uint32_t find(const WalkOrigin& origin, const void* tag) noexcept;

  // After find() found nothing and the stack was walked into `record`: the number that it has from now on,
  // which another stack may have had. kNone: the walk is not one to rely on, or there is no memory.
  uint32_t add(Arena& arena, const void* tag) noexcept;

 private:
  static constexpr uint32_t kPlaces = 1024;
  static constexpr unsigned kMostLevels = 12;

  struct Entry {
    uint64_t key;  // of its place; 0: unused
    const void* tag;
    WalkOrigin origin;
    uint32_t generation;
    uint32_t count;
    uint32_t room;
    bool uses_bp;
    WalkedWord* words;
  };
  struct Place {
    uint64_t key;
    uint64_t sp;      // the offset is valid above this one
    uint32_t offset;  // of the word that leads on; kIsEntry: `entry` is here
    uint32_t entry;
  };
  static constexpr uint32_t kIsEntry = UINT32_MAX;

  Place& place_of(uint64_t key) noexcept { return places_[key % kPlaces]; }
  bool leads_on(const Place& place, uint64_t key, uint64_t sp) const noexcept;
  bool has_entry(const Place& place, uint64_t key, uint64_t sp) const noexcept;
  uint64_t descend(const WalkOrigin& origin, const void* tag, unsigned& level) noexcept;
  static bool holds(const Entry& entry, const WalkOrigin& origin, const void* tag) noexcept;
  uint32_t number_of(const Entry& entry) const noexcept { return static_cast<uint32_t>(&entry - entries_); }
  Entry* make_entry(uint64_t key) noexcept;
  static bool fill(Arena& arena, Entry& entry, const WalkRecord& record, const void* tag) noexcept;

  Entry entries_[kEntries];
  Place places_[kPlaces];
  uint32_t next_entry_;
};

}  // namespace hpcrun

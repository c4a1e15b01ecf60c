#pragma once
// Recognizes stacks that were walked before. Programs reach the same few places over and over, and a stack
// with the same contents as before need not be walked again. A match is compared word for word
// (walk_record.h); only the choice of the candidate is a guess.
//
// Stacks with the same stack pointer are distinguished by the first return address in which they differ, then
// by the next: a trie, stored in a hash table. It belongs to one thread and lives in its arena; the oldest
// entry is replaced first. Not for handlers. Zeroed memory is a valid empty one.

#include <cstdint>

#include "hpcrun/guest/arena.h"
#include "hpcrun/unwind/walk_record.h"

namespace hpcrun {

class KnownStacks {
 public:
  static constexpr uint32_t kEntries = 256;
  static constexpr uint32_t kNone = UINT32_MAX;

  WalkRecord record;  // of the next walk

  // Returns the number of the calling thread's current stack, below kEntries, or kNone. `tag` is part of the
  // key: the function that was called.
  uint32_t find(const WalkOrigin& origin, const void* tag) noexcept;

  // Adds the stack that was walked into `record`, after find() returned kNone. Returns its number from now
  // on, which another stack may have had before. Returns kNone if the walk is not reliable, or if there is no
  // memory.
  uint32_t add(Arena& arena, const void* tag) noexcept;

 private:
  static constexpr uint32_t kSlots = 1024;
  static constexpr unsigned kMaxLevels = 12;

  struct Entry {
    uint64_t key;  // of its slot; 0: unused
    const void* tag;
    WalkOrigin origin;
    uint32_t generation;
    uint32_t count;
    uint32_t room;
    bool uses_bp;
    WalkedWord* words;
  };
  struct Slot {
    uint64_t key;
    uint64_t sp;      // `offset` applies to this stack pointer only
    uint32_t offset;  // of the word that selects the next slot; kIsEntry: `entry` is valid
    uint32_t entry;
  };
  static constexpr uint32_t kIsEntry = UINT32_MAX;

  Slot& slot_of(uint64_t key) noexcept { return slots_[key % kSlots]; }
  [[nodiscard]] bool leads_on(const Slot& slot, uint64_t key, uint64_t sp) const noexcept;
  bool has_entry(const Slot& slot, uint64_t key, uint64_t sp) const noexcept;
  uint64_t descend(const WalkOrigin& origin, const void* tag, unsigned& level) noexcept;
  [[nodiscard]] static bool holds(const Entry& entry, const WalkOrigin& origin, const void* tag) noexcept;
  uint32_t number_of(const Entry& entry) const noexcept { return static_cast<uint32_t>(&entry - entries_); }
  Entry* make_entry(uint64_t key) noexcept;
  [[nodiscard]] static bool fill(Arena& arena, Entry& entry, const WalkRecord& record,
                                 const void* tag) noexcept;

  Entry entries_[kEntries];
  Slot slots_[kSlots];
  uint32_t next_entry_;
};

}  // namespace hpcrun

#pragma once
// Where a thread called a device's interface from, and which node of which tree that was: programs launch
// from the same few places over and over, and a stack that holds what it held when it was walked need not be
// walked again. A context that is found was compared word for word (walk_record.h); only where to look for it
// is a guess.
//
// Places that begin at one stack pointer are told apart by the first return address in which they differ, and
// so on: a trie, in a hash table. One thread's, in its arena; forgets what was added longest ago. Not for
// handlers. Zeroed memory is a valid empty one.

#include <cstdint>

#include "hpcrun/cct/cct.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/unwind/walk_record.h"

namespace hpcrun {

// The call of a device's interface, and what hangs below its path.
struct LaunchTarget {
  const void* function;  // of the interface
  uint32_t line;         // whose tree the node is of
  const char* executed;  // its name; nullptr: nothing
};

class LaunchContexts {
 public:
  WalkRecord record;  // of the walk that comes next

  // kNoNode where the path is not known, or is but not with this target.
  NodeId find(const WalkOrigin& origin, const LaunchTarget& target) noexcept;

  // After find() found nothing: the path was walked from there into `record`, and this is its node. The
  // target's name stays.
  void add(Arena& arena, const LaunchTarget& target, NodeId node) noexcept;

 private:
  static constexpr uint32_t kEntries = 256;
  static constexpr uint32_t kPlaces = 1024;
  static constexpr unsigned kMostLevels = 12;
  static constexpr uint32_t kTargets = 4;  // queues and kernels that one path launches

  struct Target {
    uint32_t line;
    NodeId node;
    const char* executed;
  };
  struct Entry {
    uint64_t key;  // of its place; 0: unused
    const void* function;
    WalkOrigin origin;
    uint32_t generation;
    uint32_t count;
    uint32_t room;
    uint32_t target_count;  // that were ever added
    bool uses_bp;
    WalkedWord* words;
    Target targets[kTargets];
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
  uint64_t descend(const WalkOrigin& origin, const void* function, unsigned& level) noexcept;
  static bool is_same(const Target& known, const LaunchTarget& target) noexcept;
  static bool holds(const Entry& entry, const WalkOrigin& origin, const void* function) noexcept;
  Entry* make_entry(uint64_t key) noexcept;
  static bool fill(Arena& arena, Entry& entry, const WalkRecord& record, const void* function) noexcept;

  Entry entries_[kEntries];
  Place places_[kPlaces];
  uint32_t next_entry_;
  Entry* found_;  // by the last find(), with another target
};

}  // namespace hpcrun

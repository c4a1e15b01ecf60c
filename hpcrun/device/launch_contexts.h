#pragma once
// Caches where a thread called a device's interface from, and the node for that in a tree. Programs launch
// from the same few places over and over (hpcrun/unwind/known_stacks.h). Belongs to one thread, in its arena;
// not for handlers. Zeroed memory is a valid empty one.

#include <cstdint>

#include "hpcrun/cct/cct.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/unwind/known_stacks.h"

namespace hpcrun {

// A call of a device's interface, and what is added below its path.
struct LaunchTarget {
  const void* function;  // of the interface
  uint32_t track;        // thread index of the tree
  const char* executed;  // name of what is executed; nullptr: nothing
};

class LaunchContexts {
 public:
  // Returns the record for the next walk.
  WalkRecord& record() noexcept { return stacks_.record; }

  // Returns kNoNode if the path is not known, or not with this target.
  NodeId find(const WalkOrigin& origin, const LaunchTarget& target) noexcept;

  // Adds the node of a path that was walked into record(), after find() returned kNoNode. The target's name
  // must stay valid.
  void add(Arena& arena, const LaunchTarget& target, NodeId node) noexcept;

 private:
  static constexpr uint32_t kTargets = 4;  // per path: queues and kernels that it launches

  struct Target {
    uint32_t track;
    NodeId node;
    const char* executed;
  };
  struct Launched {
    Target targets[kTargets];
    uint32_t count;  // number ever added
  };

  static bool is_same(const Target& known, const LaunchTarget& target) noexcept;

  KnownStacks stacks_;
  Launched launched_[KnownStacks::kEntries];
  bool is_known_;   // path known at the last find(), with another target,
  uint32_t known_;  // and its number
};

}  // namespace hpcrun

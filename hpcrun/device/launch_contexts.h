#pragma once
// Where a thread called a device's interface from, and which node of which tree that was: programs launch
// from the same few places over and over (hpcrun/unwind/known_stacks.h). One thread's, in its arena; not for
// handlers. Zeroed memory is a valid empty one.

#include <cstdint>

#include "hpcrun/cct/cct.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/unwind/known_stacks.h"

namespace hpcrun {

// The call of a device's interface, and what hangs below its path.
struct LaunchTarget {
  const void* function;  // of the interface
  uint32_t line;         // whose tree the node is of
  const char* executed;  // its name; nullptr: nothing
};

class LaunchContexts {
 public:
  // Of the walk that comes next.
  WalkRecord& record() noexcept { return stacks_.record; }

  // kNoNode where the path is not known, or is but not with this target.
  NodeId find(const WalkOrigin& origin, const LaunchTarget& target) noexcept;

  // After find() found nothing: the path was walked from there into record(), and this is its node. The
  // target's name stays.
  void add(Arena& arena, const LaunchTarget& target, NodeId node) noexcept;

 private:
  static constexpr uint32_t kTargets = 4;  // queues and kernels that one path launches

  struct Target {
    uint32_t line;
    NodeId node;
    const char* executed;
  };
  struct Launched {
    Target targets[kTargets];
    uint32_t count;  // that were ever added
  };

  static bool is_same(const Target& known, const LaunchTarget& target) noexcept;

  KnownStacks stacks_;
  Launched launched_[KnownStacks::kEntries];
  bool is_known_;   // by the last find(), with another target,
  uint32_t known_;  // under this number
};

}  // namespace hpcrun

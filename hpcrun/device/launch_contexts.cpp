#include "hpcrun/device/launch_contexts.h"

#include <algorithm>

#include "hpcrun/device/names.h"

namespace hpcrun {

bool LaunchContexts::is_same(const Target& known, const LaunchTarget& target) noexcept {
  if (known.track != target.track || !known.executed != !target.executed) return false;
  return !known.executed || Names::are_equal(known.executed, target.executed);
}

NodeId LaunchContexts::find(const WalkOrigin& origin, const LaunchTarget& target) noexcept {
  known_ = stacks_.find(origin, target.function);
  is_known_ = false;
  if (known_ == KnownStacks::kNone) return kNoNode;
  const Launched& launched = launched_[known_];
  for (uint32_t i = 0; i < std::min(launched.count, kTargets); ++i)
    if (is_same(launched.targets[i], target)) return launched.targets[i].node;
  is_known_ = true;
  return kNoNode;
}

void LaunchContexts::add(Arena& arena, const LaunchTarget& target, NodeId node) noexcept {
  uint32_t number = known_;
  if (!is_known_) {
    number = stacks_.add(arena, target.function);
    if (number == KnownStacks::kNone) return;
    launched_[number].count = 0;
  }
  is_known_ = false;
  Launched& launched = launched_[number];
  launched.targets[launched.count++ % kTargets] = {target.track, node, target.executed};
}

}  // namespace hpcrun

#include "hpcrun/sync/activity.h"

#include <algorithm>

namespace hpcrun {

void Activities::change(Activity from, Activity to) noexcept {
  if (from == to) return;
  if (from != Activity::Works) in_[static_cast<uint32_t>(from)].fetch_sub(1, std::memory_order_relaxed);
  if (to != Activity::Works) in_[static_cast<uint32_t>(to)].fetch_add(1, std::memory_order_relaxed);
}

void Activities::end_thread(Activity last) noexcept {
  change(last, Activity::Works);
  ended_.fetch_add(1, std::memory_order_relaxed);
}

Activities::Count Activities::count(uint32_t begun) const noexcept {
  const auto in = [this](Activity activity) {
    return std::max(0, in_[static_cast<uint32_t>(activity)].load(std::memory_order_relaxed));
  };
  const int32_t idle = in(Activity::Idles) + (has_tasks() ? 0 : in(Activity::IdlesInTeam));
  const int32_t working = static_cast<int32_t>(begun) - ended_.load(std::memory_order_relaxed) - idle -
                          in(Activity::WaitsForLock);
  return {static_cast<uint32_t>(idle), static_cast<uint32_t>(std::max(1, working))};
}

void Activities::reset_after_fork() noexcept {
  for (std::atomic<int32_t>& in : in_) in.store(0, std::memory_order_relaxed);
  ended_.store(0, std::memory_order_relaxed);
  tasks_.store(false, std::memory_order_relaxed);
}

}  // namespace hpcrun

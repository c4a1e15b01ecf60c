#include "repair/isolate/controller/atomic_watch.h"

namespace hpcrun {

bool AtomicWatch::is_over_after(const Round& round, uint64_t now_ns) noexcept {
  if (is_over_) return true;
  if (!first_ns_ && !round.has_worked) return false;
  if (!first_ns_) first_ns_ = now_ns;
  if (!round.all_are_seen)
    since_ns_ = 0;
  else if (!since_ns_ && round.has_worked)
    since_ns_ = now_ns;
  is_over_ = (since_ns_ && now_ns - since_ns_ >= kWatchNs) || now_ns - first_ns_ >= kLongestNs;
  return is_over_;
}

}  // namespace hpcrun

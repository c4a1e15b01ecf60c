#include "hpcrun/contention/parallelism.h"

namespace hpcrun {

Parallelism::Threads Parallelism::sampled(uint64_t now_ns, Ready ready,
                                          uint64_t (*cpu_ns)() noexcept) noexcept {
  if (!ready.is_known) is_unsure_.store(true, std::memory_order_relaxed);
  ready_ns_.fetch_add(ready.ns, std::memory_order_relaxed);
  const Threads before = threads_.load(std::memory_order_relaxed);
  uint64_t since = since_ns_.load(std::memory_order_relaxed);
  const uint64_t elapsed = now_ns > since ? now_ns - since : 0;
  const bool is_first = before == Threads::Unknown && !asks_for_ready_time();
  if (elapsed < (is_first ? kFirstWindowNs : kWindowNs) ||
      !since_ns_.compare_exchange_strong(since, now_ns, std::memory_order_relaxed))
    return before;
  const uint64_t cpu = cpu_ns();
  const Threads now = judge(elapsed, cpu - cpu_ns_.exchange(cpu, std::memory_order_relaxed));
  threads_.store(now, std::memory_order_relaxed);
  return now;
}

Parallelism::Threads Parallelism::judge(uint64_t elapsed_ns, uint64_t used_ns) noexcept {
  const uint64_t ready = ready_ns_.exchange(0, std::memory_order_relaxed);
  const bool is_unsure = is_unsure_.exchange(false, std::memory_order_relaxed);
  const uint64_t percent = elapsed_ns / 100;
  const bool is_recent = elapsed_ns < kMaxWindowNs;
  const bool may_take_turns = is_recent && used_ns < kTogetherPercent * percent;
  const bool asked = asks_.exchange(may_take_turns, std::memory_order_relaxed);
  if (!is_recent || (may_take_turns && !asked)) return Threads::Unknown;
  const bool take_turns = may_take_turns && !is_unsure && used_ns + ready < kReadyPercent * percent;
  return take_turns ? Threads::InTurns : Threads::Together;
}

}  // namespace hpcrun

#include "hpcrun/contention/peer_freeze.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include <cassert>
#include <climits>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

void wait_while(std::atomic<uint32_t>& word, uint32_t value, uint64_t at_most_ns) noexcept {
  const timespec time{static_cast<time_t>(at_most_ns / kNsPerSecond),
                      static_cast<long>(at_most_ns % kNsPerSecond)};
  raw_syscall(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT_PRIVATE, value,
              reinterpret_cast<long>(&time), 0, 0);
}

void wake_all(std::atomic<uint32_t>& word) noexcept {
  raw_syscall(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

}  // namespace

void PeerFreeze::ask(uint64_t line, uint32_t thread, uint32_t others, uint64_t now_ns) noexcept {
  assert(others > 0);
  uint32_t turn = turn_.load(std::memory_order_acquire);
  const Phase phase = phase_of(turn);
  const bool is_forgotten =
      phase == Phase::Asked && now_ns > deadline_ns_.load(std::memory_order_relaxed) + kMaxNs;
  if (phase != Phase::Free && !is_forgotten) return;
  if (now_ns < next_ns_.load(std::memory_order_relaxed)) return;
  const uint32_t base = turn - turn % kPhases;
  if (!turn_.compare_exchange_strong(turn, base + static_cast<uint32_t>(Phase::Changing),
                                     std::memory_order_acquire))
    return;
  line_.store(line, std::memory_order_relaxed);
  thread_.store(thread, std::memory_order_relaxed);
  wanted_.store(others, std::memory_order_relaxed);
  held_.store(0, std::memory_order_relaxed);
  all_held_ns_.store(0, std::memory_order_relaxed);
  deadline_ns_.store(now_ns + kMaxNs, std::memory_order_relaxed);
  turn_.store(base + kPhases + static_cast<uint32_t>(Phase::Asked), std::memory_order_release);
}

bool PeerFreeze::stay(uint64_t line, uint32_t thread, uint64_t now_ns) noexcept {
  const uint32_t turn = turn_.load(std::memory_order_acquire);
  if (phase_of(turn) != Phase::Asked || line_.load(std::memory_order_relaxed) != line ||
      thread_.load(std::memory_order_relaxed) == thread)
    return false;
  const uint64_t deadline = deadline_ns_.load(std::memory_order_relaxed);
  if (now_ns >= deadline) return false;
  last_held_ns_.store(deadline, std::memory_order_relaxed);
  if (held_.fetch_add(1, std::memory_order_acq_rel) + 1 == wanted_.load(std::memory_order_relaxed))
    all_held_ns_.store(now_ns, std::memory_order_release);
  while (now_ns < deadline && turn_.load(std::memory_order_acquire) == turn) {
    wait_while(turn_, turn, deadline - now_ns);
    now_ns = monotonic_ns();
  }
  return true;
}

bool PeerFreeze::is_for(uint32_t thread) const noexcept {
  return phase_of(turn_.load(std::memory_order_acquire)) == Phase::Asked &&
         thread_.load(std::memory_order_relaxed) == thread;
}

bool PeerFreeze::lasted(uint64_t since, uint64_t until) const noexcept {
  const uint64_t begin = all_held_ns_.load(std::memory_order_acquire);
  return begin && begin <= since && until < deadline_ns_.load(std::memory_order_relaxed);
}

bool PeerFreeze::was_free(uint64_t since) const noexcept {
  return last_held_ns_.load(std::memory_order_relaxed) < since;
}

void PeerFreeze::release(uint64_t now_ns) noexcept {
  uint32_t turn = turn_.load(std::memory_order_relaxed);
  if (phase_of(turn) != Phase::Asked) return;
  const bool is_early = turn / kPhases <= kFirstHolds;
  next_ns_.store(now_ns + (is_early ? kRestNs : kLongRestNs), std::memory_order_relaxed);
  if (held_.load(std::memory_order_relaxed)) last_held_ns_.store(now_ns, std::memory_order_relaxed);
  if (turn_.compare_exchange_strong(turn, turn - turn % kPhases, std::memory_order_release)) wake_all(turn_);
}

void PeerFreeze::stop() noexcept {
  turn_.store(static_cast<uint32_t>(Phase::Stopped), std::memory_order_release);
  wake_all(turn_);
}

}  // namespace hpcrun

#include "hpcrun/sync/lock_table.h"

#include "hpcrun/guest/own_memory.h"

namespace hpcrun {

namespace {

constexpr uint64_t kModulus = uint64_t{1} << 48;

// Returns a - b, both mod 2^48. Neither may be ahead by 2^47 ns (39 hours of waiting) or more.
int64_t difference(uint64_t a, uint64_t b) noexcept {
  return static_cast<int64_t>((a - b) << 16) >> 16;
}

uint32_t first_probe(const void* lock) noexcept {
  const auto mixed = reinterpret_cast<uintptr_t>(lock) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(mixed >> 32) % LockTable::kLocks;
}

}  // namespace

void WaitedLock::begin_wait(uint64_t now) noexcept {
  waits_.fetch_add((now << kTimeShift) + 1, std::memory_order_seq_cst);
}

void WaitedLock::end_wait(uint64_t now) noexcept {
  waits_.fetch_sub((now << kTimeShift) + 1, std::memory_order_seq_cst);
}

uint64_t WaitedLock::take(uint64_t now) noexcept {
  const uint64_t state = waits_.load(std::memory_order_seq_cst);
  const uint64_t waited = ((state & kThreads) * now - (state >> kTimeShift)) % kModulus;
  uint64_t taken = taken_.load(std::memory_order_relaxed);
  // Another thread may have taken more meanwhile.
  while (difference(waited, taken) > 0)
    if (taken_.compare_exchange_weak(taken, waited, std::memory_order_relaxed))
      return static_cast<uint64_t>(difference(waited, taken));
  return 0;
}

void WaitedLock::set_last_holder(LockHolder holder, uint64_t now) noexcept {
  holder_.store(uint64_t{holder.thread} << 32 | holder.node, std::memory_order_relaxed);
  released_.store(now, std::memory_order_release);
}

LockHolder WaitedLock::last_holder(uint64_t since) const noexcept {
  if (released_.load(std::memory_order_acquire) < since) return {};
  const uint64_t holder = holder_.load(std::memory_order_relaxed);
  return {static_cast<uint32_t>(holder >> 32), static_cast<uint32_t>(holder)};
}

bool LockTable::attach() noexcept {
  locks_ = static_cast<WaitedLock*>(map_own_memory(kLocks * sizeof(WaitedLock), InChild::Copy));
  return locks_ != nullptr;
}

void LockTable::reset_after_fork() noexcept {
  if (locks_) unmap_own_memory(locks_, kLocks * sizeof(WaitedLock));
  locks_ = nullptr;
  for (std::atomic<uint32_t>& place : waiting_) place.store(0, std::memory_order_relaxed);
  was_full_.store(false, std::memory_order_relaxed);
}

WaitedLock* LockTable::find(const void* lock) noexcept {
  const auto address = reinterpret_cast<uint64_t>(lock);
  uint32_t at = first_probe(lock);
  for (uint32_t i = 0; i < kMaxProbes; ++i, at = (at + 1) % kLocks) {
    const uint64_t here = locks_[at].address_.load(std::memory_order_acquire);
    if (here == address) return &locks_[at];
    if (here == 0) return nullptr;
  }
  return nullptr;
}

WaitedLock* LockTable::find_or_add(const void* lock) noexcept {
  const auto address = reinterpret_cast<uint64_t>(lock);
  uint32_t at = first_probe(lock);
  for (uint32_t i = 0; i < kMaxProbes; ++i, at = (at + 1) % kLocks) {
    uint64_t here = locks_[at].address_.load(std::memory_order_acquire);
    if (here == 0 && locks_[at].address_.compare_exchange_strong(here, address, std::memory_order_acq_rel))
      return &locks_[at];
    if (here == address) return &locks_[at];
  }
  was_full_.store(true, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace hpcrun

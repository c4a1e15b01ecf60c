#pragma once
// Tracks how long threads wait for each lock: the state of all locks that a thread ever waited for, by
// address. Lock-free, of fixed size; all functions may be called from any thread at any time.
// Async-signal-safe.
//
// With n threads that began to wait at t1 ... tn, the total wait for a lock up to a time t is
//   W(t) = n * t - S,   S = t1 + ... + tn
// It stays continuous when a thread stops waiting at t if then n := n - 1 and S := S - t. Thus waiting
// threads only change one 64-bit number, which holds S (mod 2^48, in ns) and n. The thread that releases the
// lock takes the growth of W since it was last taken.

#include <atomic>
#include <cstdint>

#include "hpcrun/sync/interface.h"

namespace hpcrun {

// The last thread that released a lock while others waited for it.
struct LockHolder {
  static constexpr uint32_t kUnknown = UINT32_MAX;
  uint32_t thread = kUnknown;
  uint32_t node = 0;
};

class WaitedLock {
 public:
  void begin_wait(uint64_t now) noexcept;
  void end_wait(uint64_t now) noexcept;
  bool is_waited_for() const noexcept { return (waits_.load(std::memory_order_relaxed) & kThreads) != 0; }

  // Returns the total wait since the last call, in ns. Only one caller gets each part of it.
  uint64_t take(uint64_t now) noexcept;

  void set_last_holder(LockHolder holder, uint64_t now) noexcept;
  // Returns an unknown holder if no thread released it since `since`.
  LockHolder last_holder(uint64_t since) const noexcept;

 private:
  friend class LockTable;
  static constexpr uint64_t kThreads = 0xffff;
  static constexpr unsigned kTimeShift = 16;

  std::atomic<uint64_t> address_;
  std::atomic<uint64_t> waits_;     // S << 16 | n
  std::atomic<uint64_t> taken_;     // W at the last take()
  std::atomic<uint64_t> holder_;    // thread << 32 | node
  std::atomic<uint64_t> released_;  // time of that release
  [[maybe_unused]] uint64_t unused_[3];
};
static_assert(sizeof(WaitedLock) == 64);  // a cache line

class LockTable {
 public:
  // Returns false if there is no memory. Not async-signal-safe.
  bool attach() noexcept;
  void reset_after_fork() noexcept;  // in a forked child

  // Returns nullptr if no thread ever waited for the lock.
  WaitedLock* find(const void* lock) noexcept;
  // Returns nullptr if there are too many locks.
  WaitedLock* find_or_add(const void* lock) noexcept;

  std::atomic<uint32_t>* waiting() noexcept { return waiting_; }
  bool was_full() const noexcept { return was_full_.load(std::memory_order_relaxed); }

  static constexpr uint32_t kLocks = 16 * 1024;

 private:
  static constexpr uint32_t kMaxProbes = 64;

  WaitedLock* locks_ = nullptr;
  std::atomic<bool> was_full_{false};
  std::atomic<uint32_t> waiting_[kLockPlaces] = {};
};

}  // namespace hpcrun

#pragma once
// Who waits for which lock, and how much of that was waited since when: the state of all locks for which
// some thread ever waited, by their addresses. Lock-free, of fixed size; any thread may call anything at any
// time. Async-signal-safe.
//
// With n threads that began to wait at t1 ... tn, what was waited for a lock up to a time t is
//   W(t) = n * t - S,   S = t1 + ... + tn
// and goes on evenly when a thread stops waiting at t if then n := n - 1 and S := S - t. So one 64-bit
// number, of S (mod 2^48, in ns) and n, is all that waiting threads change. Whoever releases the lock takes
// what W grew by since it was last taken.

#include <atomic>
#include <cstdint>

#include "hpcrun/sync/interface.h"

namespace hpcrun {

// Who released a lock last while others waited for it.
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

  // What was waited since the last time, in ns; whoever takes it, nobody else gets.
  uint64_t take(uint64_t now) noexcept;

  void set_last_holder(LockHolder holder, uint64_t now) noexcept;
  // Unknown where nobody released it since `since`.
  LockHolder last_holder(uint64_t since) const noexcept;

 private:
  friend class LockTable;
  static constexpr uint64_t kThreads = 0xffff;
  static constexpr unsigned kTimeShift = 16;

  std::atomic<uint64_t> address_;
  std::atomic<uint64_t> waits_;     // S << 16 | n
  std::atomic<uint64_t> taken_;     // W at the last take()
  std::atomic<uint64_t> holder_;    // thread << 32 | node
  std::atomic<uint64_t> released_;  // when
  [[maybe_unused]] uint64_t unused_[3];
};
static_assert(sizeof(WaitedLock) == 64);  // a cache line

class LockTable {
 public:
  // False when there is no memory. Not async-signal-safe.
  bool attach() noexcept;
  void forget() noexcept;  // in a forked child

  // nullptr: never waited for.
  WaitedLock* find(const void* lock) noexcept;
  // nullptr: there are too many.
  WaitedLock* find_or_add(const void* lock) noexcept;

  std::atomic<uint32_t>* waiting() noexcept { return waiting_; }
  bool was_full() const noexcept { return was_full_.load(std::memory_order_relaxed); }

  static constexpr uint32_t kLocks = 16 * 1024;

 private:
  static constexpr uint32_t kMostProbes = 64;

  WaitedLock* locks_ = nullptr;
  std::atomic<bool> was_full_{false};
  std::atomic<uint32_t> waiting_[kLockPlaces] = {};
};

}  // namespace hpcrun

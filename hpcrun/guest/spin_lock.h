#pragma once
// A lock that is held for a few loads and stores only: never during calls to a device's interface or to the
// engine, and never in our handlers.

#include <atomic>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

class SpinLock {
 public:
  void lock() noexcept {
    while (flag_.test_and_set(std::memory_order_acquire)) raw_syscall(SYS_sched_yield);
  }
  void unlock() noexcept { flag_.clear(std::memory_order_release); }
  // For asserts of code that needs the lock: true if any thread holds it.
  bool is_held() const noexcept { return flag_.test(std::memory_order_relaxed); }

 private:
  std::atomic_flag flag_;
};

class Locked {
 public:
  explicit Locked(SpinLock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace hpcrun

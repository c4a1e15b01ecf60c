#pragma once
// Determines the holders of locks that threads wait for, from the locks themselves: the C library stores the
// owner in a mutex, and in a read-write lock that is held for writing. If a wait closes a cycle of such
// threads, they are deadlocked. Lock-free; all functions may be called from any thread at any time;
// async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

// Returns the thread id of the holder; 0: no thread, or not known. `is_ours`: the calling thread is using the
// lock, so its memory exists.
int holder_of(const void* lock, LockKind kind, bool is_ours) noexcept;

// Constant-initialized; empty.
class LockHolders {
 public:
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  // Records that the thread waits for the lock. Returns the slot for end(), or kNoSlot if there are too
  // many waits.
  uint32_t begin(int thread, const void* lock, LockKind kind) noexcept;
  void end(uint32_t slot) noexcept;

  // Calls seen(lock, kind, holder) for each lock of the cycle that the thread's own wait closes, if it does.
  template <typename Seen>
  void if_circle(int thread, const void* lock, LockKind kind, Seen seen) const noexcept {
    if (!is_circle(thread, lock, kind, [](const void*, LockKind, int) {})) return;
    is_circle(thread, lock, kind, seen);
  }

  // The same for each lock that a thread waits for.
  template <typename Seen>
  void for_each(Seen seen) const noexcept {
    for (const Slot& slot : slots_) {
      const Waited waited = waited_of(slot);
      if (!waited.lock) continue;
      if (const int holder = holder_of(waited.lock, waited.kind, false))
        seen(waited.lock, waited.kind, holder);
    }
  }

  void reset_after_fork() noexcept;  // in a forked child

 private:
  struct Slot {
    std::atomic<int> thread;       // 0: free
    std::atomic<uint64_t> waited;  // kind << 56 | address of the lock; 0: not set yet
  };
  struct Waited {
    const void* lock = nullptr;
    LockKind kind{};
  };
  static constexpr uint32_t kSlots = 4096;
  static constexpr uint32_t kProbes = 16;
  static constexpr unsigned kMaxInCircle = 64;

  static Waited waited_of(const Slot& slot) noexcept;
  Waited waited_by(int thread) const noexcept;

  template <typename Seen>
  bool is_circle(int thread, const void* lock, LockKind kind, Seen seen) const noexcept {
    bool is_ours = true;
    for (unsigned i = 0; i < kMaxInCircle; ++i) {
      const int holder = holder_of(lock, kind, is_ours);
      if (!holder) return false;
      seen(lock, kind, holder);
      if (holder == thread) return true;
      const Waited next = waited_by(holder);
      if (!next.lock) return false;
      lock = next.lock;
      kind = next.kind;
      is_ours = false;
    }
    return false;
  }

  Slot slots_[kSlots] = {};
  // False in a process without such waits: its forked children then do not touch the slots, of which each
  // page would cost a page fault.
  std::atomic<bool> is_used_{false};
};

}  // namespace hpcrun

#pragma once
// Who holds the locks that threads wait for, as the locks themselves say: the C library notes in a mutex, and
// in a read-write lock that is held for writing, the thread that has it. Where a wait closes a circle of such
// threads, none of them ever goes on. Lock-free; any thread may call anything at any time; async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

// Thread id of who has the lock; 0: nobody, or it is not known. `is_ours`: the calling thread uses the lock,
// which then is there.
int holder_of(const void* lock, LockKind kind, bool is_ours) noexcept;

// Constant-initialised; empty.
class LockHolders {
 public:
  static constexpr uint32_t kNoPlace = UINT32_MAX;

  // The thread waits for the lock from now on; its place for end(), or kNoPlace where there are too many.
  uint32_t begin(int thread, const void* lock, LockKind kind) noexcept;
  void end(uint32_t place) noexcept;

  // Calls seen(lock, kind, holder) for each lock of the circle that the thread's own wait closes, if it does.
  template <typename Seen>
  void if_circle(int thread, const void* lock, LockKind kind, Seen seen) const noexcept {
    if (!is_circle(thread, lock, kind, [](const void*, LockKind, int) {})) return;
    is_circle(thread, lock, kind, seen);
  }

  // The same for each lock that some thread waits for.
  template <typename Seen>
  void for_each(Seen seen) const noexcept {
    for (const Place& place : places_) {
      const Waited waited = waited_of(place);
      if (!waited.lock) continue;
      if (const int holder = holder_of(waited.lock, waited.kind, false))
        seen(waited.lock, waited.kind, holder);
    }
  }

  void forget() noexcept;  // in a forked child

 private:
  struct Place {
    std::atomic<int> thread;       // 0: free
    std::atomic<uint64_t> waited;  // kind << 56 | address of the lock; 0: not known yet
  };
  struct Waited {
    const void* lock = nullptr;
    LockKind kind{};
  };
  static constexpr uint32_t kPlaces = 4096;
  static constexpr uint32_t kProbes = 16;
  static constexpr unsigned kMostInCircle = 64;

  static Waited waited_of(const Place& place) noexcept;
  Waited waited_by(int thread) const noexcept;

  template <typename Seen>
  bool is_circle(int thread, const void* lock, LockKind kind, Seen seen) const noexcept {
    bool is_ours = true;
    for (unsigned i = 0; i < kMostInCircle; ++i) {
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

  Place places_[kPlaces] = {};
  // A forked child of a process without such waits leaves the places alone: each of their pages costs a
  // fault.
  std::atomic<bool> is_used_{false};
};

}  // namespace hpcrun

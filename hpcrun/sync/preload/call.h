#pragma once
// What the functions in front of the C library's have in common: how they find these, and how they tell the
// runtime of a wait. Async-signal-safe after the library was loaded.

#include <errno.h>
#include <time.h>

#include <atomic>

#include "hpcrun/guest/behind.h"
#include "hpcrun/guest/cancellation.h"
#include "hpcrun/sync/interface.h"

namespace hpcrun {

// The runtime's from when this library is loaded on; what others' constructors do before is not seen.
extern constinit SyncSwitches sync_switches;

// nullptr: waiting is not measured.
inline const SyncInterface* followed() noexcept {
  return sync_switches.followed.load(std::memory_order_relaxed);
}

void sync_library_code() noexcept;  // never called: code of this library

inline const void* this_library() noexcept {
  return reinterpret_cast<const void*>(&sync_library_code);
}

// Is anybody waiting at the lock's place?
inline bool is_waited_for(const void* lock) noexcept {
  const SyncInterface* const sync = followed();
  return sync && sync->waiting[lock_place(lock)].load(std::memory_order_seq_cst) != 0;
}

// A wait of the calling thread.
class Waiting {
 public:
  Waiting(LockKind kind, const void* object, const void* function, bool in_team = false) noexcept
      : sync_(followed()) {
    if (!sync_) return;
    wait_.kind = kind;
    wait_.object = object;
    wait_.function = function;
    wait_.in_team = in_team;
    sync_->begin(wait_, this_library());
  }
  // LockWait's end, in SyncInterface.
  void end(bool has_it, bool counts) noexcept {
    if (sync_) sync_->end(wait_, has_it, counts);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  const SyncInterface* sync_;
  LockWait wait_;
};

[[gnu::noinline]] inline void tell_release(const void* lock, LockKind kind, const void* function) noexcept {
  if (const SyncInterface* const sync = followed()) sync->release(lock, kind, function, this_library());
}

// The C library looks at these before it looks whether the lock is free: only where they are valid may that
// be asked first.
inline bool is_valid(const timespec* until, clockid_t clock = CLOCK_REALTIME) noexcept {
  return until->tv_nsec >= 0 && until->tv_nsec < 1'000'000'000 &&
         (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC);
}

}  // namespace hpcrun

#define HPCRUN_FUNCTION(name) reinterpret_cast<const void*>(HPCRUN_BEHIND(name))

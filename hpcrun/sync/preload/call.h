#pragma once
// Common part of the functions that interpose on the C library's: how they find these, and how they report
// waits to the runtime. Async-signal-safe once the library is loaded.

#include <errno.h>
#include <time.h>

#include <atomic>

#include "hpcrun/guest/cancellation.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/sync/interface.h"

namespace hpcrun {

// Registered with the runtime when this library is loaded. Waits in other libraries' earlier constructors are
// not recorded.
extern constinit SyncSwitches sync_switches;

// Returns nullptr if waiting is not measured.
inline const SyncInterface* followed() noexcept {
  return sync_switches.followed.load(std::memory_order_relaxed);
}

void sync_library_code() noexcept;  // never called: an address in this library's code

inline const void* this_library() noexcept {
  return reinterpret_cast<const void*>(&sync_library_code);
}

// True if a thread waits at the lock's place.
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
  // See SyncInterface::end.
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

// True if a timeout is valid. The C library checks that before it checks whether the lock is free: only with
// a valid timeout may the lock be tried first.
inline bool is_valid(const timespec* until, clockid_t clock = CLOCK_REALTIME) noexcept {
  return until->tv_nsec >= 0 && until->tv_nsec < 1'000'000'000 &&
         (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC);
}

}  // namespace hpcrun

#define HPCRUN_FUNCTION(name) reinterpret_cast<const void*>(HPCRUN_NEXT(name))

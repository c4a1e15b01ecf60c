#pragma once
// What the functions in front of the C library's have in common: how they find these, and how they tell the
// runtime of a wait. Async-signal-safe after the library was loaded.

#include <dlfcn.h>
#include <errno.h>
#include <time.h>

#include <atomic>

#include "hpcrun/guest/cancellation.h"
#include "hpcrun/sync/interface.h"

namespace hpcrun {

// Set when this library is loaded; what others' constructors do before is not seen. nullptr: no runtime.
extern constinit std::atomic<const SyncInterface*> sync_interface;

// The function that ours stands in front of; looked up as the library is loaded, or at a call before that.
struct Behind {
  const char* name;
  std::atomic<void*> function{nullptr};

  void* get() noexcept {
    void* known = function.load(std::memory_order_relaxed);
    if (known) [[likely]]
      return known;
    known = dlsym(RTLD_NEXT, name);
    if (!known) dlerror();  // the program must not find our failure
    function.store(known, std::memory_order_relaxed);
    return known;
  }
};

void sync_interface_code() noexcept;  // never called: code of this library

inline const void* this_library() noexcept {
  return reinterpret_cast<const void*>(&sync_interface_code);
}

// Is anybody waiting at the lock's place?
inline bool is_waited_for(const void* lock) noexcept {
  const SyncInterface* const sync = sync_interface.load(std::memory_order_relaxed);
  return sync && sync->waiting[lock_place(lock)].load(std::memory_order_seq_cst) != 0;
}

// A wait of the calling thread.
class Waiting {
 public:
  Waiting(LockKind kind, const void* object, const void* function, bool in_team = false) noexcept
      : sync_(sync_interface.load(std::memory_order_relaxed)) {
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
  sync_interface.load(std::memory_order_relaxed)->release(lock, kind, function, this_library());
}

// The C library looks at these before it looks whether the lock is free: only where they are valid may that
// be asked first.
inline bool is_valid(const timespec* until, clockid_t clock = CLOCK_REALTIME) noexcept {
  return until->tv_nsec >= 0 && until->tv_nsec < 1'000'000'000 &&
         (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC);
}

}  // namespace hpcrun

// HPCRUN_BEHIND(name) is the C library's function.
#define HPCRUN_STAND_BEFORE(name)                                               \
  static constinit hpcrun::Behind hpcrun_behind_##name{#name};                  \
  __attribute__((constructor(101))) static void hpcrun_find_##name() noexcept { \
    hpcrun_behind_##name.get();                                                 \
  }                                                                             \
  static_assert(true) /* takes the semicolon */
#define HPCRUN_BEHIND(name) (reinterpret_cast<decltype(&::name)>(hpcrun_behind_##name.get()))
#define HPCRUN_EXPORT extern "C" __attribute__((visibility("default")))

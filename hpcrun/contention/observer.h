#pragma once
// Searches contention in the measured process: keeps the state of each thread, passes samples, breakpoints
// and memory records to the watch, and writes down what it finds.

#include <atomic>

#include "hpcrun/contention/shared_access.h"
#include "hpcrun/hooks.h"

namespace hpcrun {

extern const Hooks kContentionHooks;

// True if contention is searched for at present. Async-signal-safe.
bool searches_contention() noexcept;

// A repair that uses what the search finds while the program runs. Its functions are called in handlers, by
// any thread, and must be async-signal-safe and free of locks.
struct SharingUser {
  // An access to a contended line was confirmed, and written to the file.
  void (*access)(const SharedAccess& access) noexcept;
  // True if what was found may lead to more, so that samples should stay frequent.
  bool (*may_find_more)() noexcept;
  // True if nothing more is needed from this search, which may end.
  bool (*has_found_all)() noexcept;
};

// Set before contention's start(), and reset in a forked child. nullptr: results are only written down.
extern constinit std::atomic<const SharingUser*> sharing_user;

}  // namespace hpcrun

#pragma once
// The controller decides which pages of the running program are isolated (TMI, sections 3.1 and 3.2). The
// runtime names pages that threads share falsely. The controller's thread checks whether they can be
// isolated, begins a session, and has the working threads converted. It has them commit every kCommitNs, so
// that a thread that polls a plain variable makes progress, and gives up pages that are needed in common or
// cost more than they save.
// That thread is created with the program's first thread, blocks all signals, and sleeps while nothing is
// isolated. It does not keep the process alive.

#include <pthread.h>

#include <cstdint>

#include "repair/isolate/contract/interface.h"

namespace hpcrun {

constexpr uint64_t kCommitNs = 10'000'000;

// Must be called before the program creates a thread. The first call in a process creates the controller's
// thread by `create`, the C library's pthread_create(). Keeps errno. Not async-signal-safe.
using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
void ensure_controller(CreateThread create) noexcept;

// Must be called before the process forks, while its memory is still common. Brings all threads home, where
// they stay. Returns false if one does not respond. Not in handlers.
bool end_isolation_for_fork() noexcept;
// Must be called in the forked child; isolation can start again there.
void controller_after_fork() noexcept;
// Must be called in the process that forked. If it has threads and its memory was common, memory becomes
// common again later, when a page is to be isolated: half a second after the first fork, twice as long after
// each further one. Keeps errno.
void isolation_after_fork_in_parent() noexcept;

// Called by the controller's thread around make_common() for memory that is awaited or left
// (common_memory.h). Each may be null.
struct CommonHooks {
  // Before, while all threads run; may take the loader's lock. Returns nullptr, or why memory cannot become
  // common: one clause for the report.
  const char* (*prepare)() noexcept = nullptr;
  // While all threads are stopped and memory is common, each time that a session begins. Returns false if no
  // page may be isolated.
  bool (*all_stopped)() noexcept = nullptr;
  // As ConversionHooks::ends_call_first, for the session that makes memory common.
  bool (*ends_call_first)() noexcept = nullptr;
  void (*is_common_now)() noexcept = nullptr;  // after
};
void set_common_hooks(const CommonHooks& hooks) noexcept;

// Enclose a fork, so that CommonHooks::prepare does not run during it: the child would get the loader's lists
// in an inconsistent state. fork_begins() waits for it to end, for two seconds at most, because a handler of
// pthread_atfork() may hold a lock that it needs. Calls may be nested; fork_ends() is for the parent alone.
void fork_begins() noexcept;
void fork_ends() noexcept;

// True if the process has threads besides the calling one and the controller's.
bool has_other_threads() noexcept;

// Allows isolation again in a process that forked, once its memory is common and it has one thread.
void allow_isolation() noexcept;

// Excludes memory from isolation that is accessed in ways that are not seen here, such as a stack.
void close_to_isolation(const void* at, uint64_t bytes) noexcept;

// Must be called before the contents or the place of the range change. Gives up its isolated pages
// permanently; may bring all threads home.
void end_isolation_of(uint64_t low, uint64_t high) noexcept;

}  // namespace hpcrun

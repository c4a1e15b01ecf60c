#pragma once
// Decides in the running program which pages its threads have for themselves (TMI, sections 3.1 and 3.2): the
// runtime names pages that threads share falsely, a thread of ours looks whether they can be isolated, begins
// a session, asks the threads that work to become twins, has them commit every kCommitNs - so that who
// waits for a plain store to be seen goes on - and gives pages back that turn out to be needed in common, or
// to cost more than they bring.
//
// That thread exists from the program's first thread on, blocks all signals, and sleeps while nothing is
// isolated. It does not keep the process alive.

#include <pthread.h>

#include <cstdint>

#include "repair/isolate/contract/interface.h"

namespace hpcrun {

constexpr uint64_t kCommitNs = 10'000'000;

// Before the program makes a thread, by the C library's pthread_create(). The first call in a process makes
// ours. Keeps errno. Not async-signal-safe.
using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
void ensure_controller(CreateThread create) noexcept;

// Before the process forks, while its memory is common still: all threads are at home, and stay there for
// good. False: one of them cannot be reached. After that in the child, where all can begin anew. Not in
// handlers.
bool end_isolation_for_fork() noexcept;
void controller_after_fork() noexcept;
// In the process that forked, after that. Where it has threads, and its memory was common, that is made
// common again later, when there is something to isolate and all of them stand still. The more often the
// process forks, the later: half a second after the first fork, twice that after the next. Keeps errno.
void isolation_after_fork_in_parent() noexcept;

// What is to be done from our thread around its making memory common that was left or awaited
// (common_memory.h). All may be null.
struct CommonHooks {
  // Before, while all threads run, as often as it is tried; may take the loader's lock. The result is why
  // that cannot be, one clause, or nullptr.
  const char* (*prepare)() noexcept = nullptr;
  // While all threads stand still and memory is common; each time that a session begins. False: no page may
  // be isolated.
  bool (*all_stopped)() noexcept = nullptr;
  // Of the session that makes memory common (TwinHooks::ends_call_first).
  bool (*ends_call_first)() noexcept = nullptr;
  void (*is_common_now)() noexcept = nullptr;  // after
};
void set_common_hooks(const CommonHooks& hooks) noexcept;

// Around a fork, best before any handler of pthread_atfork() has taken locks that CommonHooks::prepare needs:
// that is not under way meanwhile, lest a child have the loader's lists as they are in the midst of it. Where
// such a lock is taken, the fork goes on after two seconds. May be nested; the end in the process that forked
// alone.
void fork_begins() noexcept;
void fork_ends() noexcept;

// Besides the calling one, and ours.
bool has_other_threads() noexcept;

// In the process that forked, when its memory is common again and it has one thread.
void allow_isolation() noexcept;

// Memory that is worked on in ways that nobody sees, as a stack: its pages are never isolated.
void close_to_isolation(const void* at, uint64_t bytes) noexcept;

// The range's contents or place are about to change: no page of it is isolated from here on. May bring all
// threads home.
void end_isolation_of(uint64_t low, uint64_t high) noexcept;

}  // namespace hpcrun

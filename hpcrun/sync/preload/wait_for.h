#pragma once
// Waits for locks that are known not to be free, and evaluates the results of the C library's calls.

#include <errno.h>
#include <threads.h>

#include "hpcrun/sync/preload/call.h"

namespace hpcrun {

// True if the thread acquired the lock.
inline bool has_lock(int error) noexcept {
  return error == 0 || error == EOWNERDEAD;
}

// False for EDEADLK, EINVAL and similar errors, which are returned at once.
inline bool has_waited(int error) noexcept {
  return has_lock(error) || error == ETIMEDOUT || error == ENOTRECOVERABLE;
}

template <typename Call>
[[gnu::noinline]] int wait_for(LockKind kind, const void* lock, const void* function, Call call) noexcept {
  Waiting wait(kind, lock, function);
  const int error = call();
  wait.end(has_lock(error), has_waited(error));
  return error;
}

// The C11 functions have different results.
template <typename Call>
[[gnu::noinline]] int wait_for_c11(const void* lock, const void* function, Call call) noexcept {
  Waiting wait(LockKind::Mutex, lock, function);
  const int result = call();
  wait.end(result == thrd_success, result == thrd_success || result == thrd_timedout);
  return result;
}

}  // namespace hpcrun

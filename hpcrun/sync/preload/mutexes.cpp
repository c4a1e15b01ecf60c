// Interposes on the C library's mutexes, which are also those of its C11 functions. Free mutexes are locked
// and unlocked directly (direct_mutex.h), unless there is a detour. While waiting is measured, each is tried
// first, and only a failure is measured. If they need not wait, the try functions do the same as the waiting
// ones, errors included (glibc 2.36 and before); what they refuse is passed to the waiting ones. A mutex that
// was moved (repair/locks/move.h) is reported under its original address.
//
// Other functions of the C library (glibc 2.36) that access a program's mutex:
// - pthread_cond_*wait(), cnd_*wait(): in waits.cpp. Conditions from before 2.3.2, in 64-bit programs built
//   before 2003, are not supported at all.
// - pthread_mutex_init(), mtx_init(): clear all fields: a new mutex has not been moved.
// - pthread_mutex_consistent(), pthread_mutex_{get,set}prioceiling(): check the kind, and refuse mutexes that
//   may be moved.
// - __pthread_mutex_{lock,trylock,unlock,destroy}(): other names, for libraries built with 2.33 and before.
// The C library's own mutexes, of FILEs, pthread_once(), pthread_atfork(), the loader and so on, are not the
// program's. It locks them with internal calls, so none of them ever passes through here to be moved.
// Functions that a program looks up in the C library itself, by dlsym() with its handle or by
// dlopen(RTLD_DEEPBIND), are not observed. At the first dlopen(RTLD_DEEPBIND), the runtime stops moving
// mutexes.

#include <pthread.h>
#include <sys/single_threaded.h>
#include <threads.h>

#include "hpcrun/sync/preload/call.h"
#include "hpcrun/sync/preload/direct_mutex.h"
#include "hpcrun/sync/preload/wait_for.h"
#include "repair/locks/move.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(pthread_mutex_trylock);
HPCRUN_NEXT_OF(pthread_mutex_lock);
HPCRUN_NEXT_OF(pthread_mutex_timedlock);
HPCRUN_NEXT_OF(pthread_mutex_clocklock);
HPCRUN_NEXT_OF(pthread_mutex_unlock);
HPCRUN_NEXT_OF(pthread_mutex_destroy);
HPCRUN_NEXT_OF(mtx_trylock);
HPCRUN_NEXT_OF(mtx_lock);
HPCRUN_NEXT_OF(mtx_timedlock);
HPCRUN_NEXT_OF(mtx_unlock);

namespace {

int release_in_place(pthread_mutex_t* mutex) {
  return HPCRUN_NEXT(pthread_mutex_unlock)(mutex);
}

int destroy_in_place(pthread_mutex_t* mutex) {
  return HPCRUN_NEXT(pthread_mutex_destroy)(mutex);
}

pthread_mutex_t* mutex_in(mtx_t* mutex) {
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}
mtx_t* c11_mutex_in(pthread_mutex_t* mutex) {
  return reinterpret_cast<mtx_t*>(mutex);
}

// Locks the mutex wherever it is. wait() is the call that the program made, function() its code.
template <typename Function, typename Wait>
[[gnu::noinline]] int take_measured(pthread_mutex_t* mutex, Function function, bool may_ask, Wait wait) {
  return take_mutex(mutex, sync_switches, release_in_place, [=](pthread_mutex_t* place) {
    // With one thread, the C library locks a free mutex without an atomic instruction, but not in trylock.
    if (__libc_single_threaded && place->__data.__lock == 0) return wait(place);
    if (may_ask) [[likely]] {
      const int error = HPCRUN_NEXT(pthread_mutex_trylock)(place);
      if (error != EBUSY) [[likely]]
        return error;
    }
    return wait_for(LockKind::Mutex, mutex, function(), [=] { return wait(place); });
  });
}

template <typename Function, typename Wait>
int take(pthread_mutex_t* mutex, Function function, bool may_ask, Wait wait) {
  // With one thread, the C library locks a free mutex without an atomic instruction, but not in trylock.
  const bool is_free = __libc_single_threaded && mutex->__data.__lock == 0;
  if (followed() && !is_free) return take_measured(mutex, function, may_ask, wait);
  return take_mutex(mutex, sync_switches, release_in_place, wait);
}

// The C11 functions have different results.
template <typename Function, typename Wait>
int take_c11(mtx_t* mutex, Function function, bool may_ask, Wait wait) {
  return take_mutex(mutex_in(mutex), sync_switches, release_in_place, [=](pthread_mutex_t* place) {
    if (!followed()) return wait(c11_mutex_in(place));
    if (may_ask) [[likely]] {
      const int result = HPCRUN_NEXT(mtx_trylock)(c11_mutex_in(place));
      if (result != thrd_busy) [[likely]]
        return result;
    }
    return wait_for_c11(mutex, function(), [=] { return wait(c11_mutex_in(place)); });
  });
}

template <typename Function>
void tell_if_waited_for(const void* mutex, Function function) {
  if (!__libc_single_threaded && is_waited_for(mutex)) [[unlikely]]
    tell_release(mutex, LockKind::Mutex, function());
}

#define HPCRUN_FUNCTION_LATER(name) [] { return HPCRUN_FUNCTION(name); }

// True if no line is known whose locks are to be moved.
bool moves_nothing() {
  const LockRepair* const repair = sync_switches.repair.load(std::memory_order_relaxed);
  return !repair || repair->lines->is_empty();
}

// Settles a mutex after a call that locked it (0) or did not (any other result). The functions after the
// direct path are separate, so that it needs no registers for them.
template <int (*Call)(pthread_mutex_t*)>
[[gnu::noinline]] int settle(pthread_mutex_t* mutex) {
  return settle_mutex(mutex, sync_switches, release_in_place, Call);
}
template <int (*Otherwise)(pthread_mutex_t*)>
[[gnu::noinline, gnu::cold]] int take_again(pthread_mutex_t* mutex, pthread_mutex_t* place) {
  release_in_place(place);
  return Otherwise(mutex);
}
template <int (*Call)(pthread_mutex_t*), int (*Otherwise)(pthread_mutex_t*)>
inline int take_directly_or(pthread_mutex_t* mutex) {
  if (is_lone() && !shadow_address(mutex) && moves_nothing() && take_alone(mutex)) return 0;
  pthread_mutex_t* const place = wherever(mutex);
  if (const Taken taken = take_directly(place); taken != Taken::Yes) [[unlikely]]
    return taken == Taken::No ? Otherwise(mutex) : take_again<Otherwise>(mutex, place);
  if (place == mutex && is_to_be_settled(mutex, sync_switches)) [[unlikely]]
    return settle<Call>(mutex);
  return 0;
}

int lock_in_place(pthread_mutex_t* mutex) {
  return HPCRUN_NEXT(pthread_mutex_lock)(mutex);
}
int try_in_place(pthread_mutex_t* mutex) {
  return HPCRUN_NEXT(pthread_mutex_trylock)(mutex);
}
// True in a process with one thread, as long as its locks are neither measured nor repaired: a mutex that was
// not moved is left to the C library.
bool is_left_alone(const pthread_mutex_t* mutex) {
  return __libc_single_threaded && !followed() && !shadow_address(mutex) && moves_nothing();
}

[[gnu::noinline]] int lock_otherwise(pthread_mutex_t* mutex) {
  if (is_left_alone(mutex)) return lock_in_place(mutex);
  return take(mutex, HPCRUN_FUNCTION_LATER(pthread_mutex_lock), true, lock_in_place);
}
[[gnu::noinline]] int try_otherwise(pthread_mutex_t* mutex) {
  if (is_left_alone(mutex)) return try_in_place(mutex);
  return take_mutex(mutex, sync_switches, release_in_place, try_in_place);
}
[[gnu::noinline]] int unlock_otherwise(pthread_mutex_t* mutex) {
  if (is_left_alone(mutex)) return release_in_place(mutex);
  tell_if_waited_for(mutex, HPCRUN_FUNCTION_LATER(pthread_mutex_unlock));
  return HPCRUN_NEXT(pthread_mutex_unlock)(wherever(mutex));
}

int c11_lock_in_place(pthread_mutex_t* mutex) {
  return HPCRUN_NEXT(mtx_lock)(c11_mutex_in(mutex));
}
int c11_try_in_place(pthread_mutex_t* mutex) {
  return HPCRUN_NEXT(mtx_trylock)(c11_mutex_in(mutex));
}
[[gnu::noinline]] int c11_lock_otherwise(pthread_mutex_t* mutex) {
  return take_c11(c11_mutex_in(mutex), HPCRUN_FUNCTION_LATER(mtx_lock), true,
                  [](mtx_t* place) { return HPCRUN_NEXT(mtx_lock)(place); });
}
[[gnu::noinline]] int c11_try_otherwise(pthread_mutex_t* mutex) {
  return take_mutex(mutex, sync_switches, release_in_place, c11_try_in_place);
}
[[gnu::noinline]] int c11_unlock_otherwise(pthread_mutex_t* mutex) {
  tell_if_waited_for(mutex, HPCRUN_FUNCTION_LATER(mtx_unlock));
  return HPCRUN_NEXT(mtx_unlock)(c11_mutex_in(wherever(mutex)));
}
static_assert(thrd_success == 0);

}  // namespace

HPCRUN_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  return take_directly_or<lock_in_place, lock_otherwise>(mutex);
}
HPCRUN_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  return take_directly_or<try_in_place, try_otherwise>(mutex);
}
HPCRUN_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  return take(mutex, HPCRUN_FUNCTION_LATER(pthread_mutex_timedlock), is_valid(until),
              [=](pthread_mutex_t* place) { return HPCRUN_NEXT(pthread_mutex_timedlock)(place, until); });
}
HPCRUN_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                          const timespec* until) noexcept {
  return take(
      mutex, HPCRUN_FUNCTION_LATER(pthread_mutex_clocklock), is_valid(until, clock),
      [=](pthread_mutex_t* place) { return HPCRUN_NEXT(pthread_mutex_clocklock)(place, clock, until); });
}
HPCRUN_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (is_lone() && !shadow_address(mutex) && release_alone(mutex)) return 0;
  if (release_directly(wherever(mutex))) [[likely]]
    return 0;
  return unlock_otherwise(mutex);
}
HPCRUN_EXPORT int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept {
  return destroy_mutex(mutex, destroy_in_place);
}

// Clang, which checks this file only, has no `copy`.
// NOLINTBEGIN(clang-diagnostic-unknown-attributes)
#define HPCRUN_OTHER_NAME(name) \
  HPCRUN_EXPORT __attribute__((alias(#name), copy(name))) int __##name(pthread_mutex_t* mutex) noexcept
HPCRUN_OTHER_NAME(pthread_mutex_lock);
HPCRUN_OTHER_NAME(pthread_mutex_trylock);
HPCRUN_OTHER_NAME(pthread_mutex_unlock);
HPCRUN_OTHER_NAME(pthread_mutex_destroy);
// NOLINTEND(clang-diagnostic-unknown-attributes)

HPCRUN_EXPORT int mtx_lock(mtx_t* mutex) {
  return take_directly_or<c11_lock_in_place, c11_lock_otherwise>(mutex_in(mutex));
}
HPCRUN_EXPORT int mtx_trylock(mtx_t* mutex) {
  return take_directly_or<c11_try_in_place, c11_try_otherwise>(mutex_in(mutex));
}
HPCRUN_EXPORT int mtx_timedlock(mtx_t* mutex, const timespec* until) {
  return take_c11(mutex, HPCRUN_FUNCTION_LATER(mtx_timedlock), is_valid(until),
                  [=](mtx_t* place) { return HPCRUN_NEXT(mtx_timedlock)(place, until); });
}
HPCRUN_EXPORT int mtx_unlock(mtx_t* mutex) {
  if (is_lone() && !shadow_address(mutex) && release_alone(mutex_in(mutex))) return thrd_success;
  if (release_directly(wherever(mutex_in(mutex)))) [[likely]]
    return thrd_success;
  return c11_unlock_otherwise(mutex_in(mutex));
}
HPCRUN_EXPORT void mtx_destroy(mtx_t* mutex) {
  destroy_mutex(mutex_in(mutex), destroy_in_place);
}

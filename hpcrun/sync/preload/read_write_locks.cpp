// Interposes on the C library's read-write locks. While waiting is measured, each is tried first without
// waiting, as mutexes are (mutexes.cpp). A lock that was moved (repair/locks/move_read_write.h) is reported
// under its original address.
//
// Other functions of the C library (glibc 2.36) access a program's lock of this kind. pthread_rwlock_init()
// clears all fields, so a new lock has not been moved. Some functions have other names as well, for libraries
// built with 2.33 and before.

#include <pthread.h>

#include "hpcrun/sync/preload/call.h"
#include "hpcrun/sync/preload/wait_for.h"
#include "repair/locks/move_read_write.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(pthread_rwlock_tryrdlock);
HPCRUN_NEXT_OF(pthread_rwlock_trywrlock);
HPCRUN_NEXT_OF(pthread_rwlock_rdlock);
HPCRUN_NEXT_OF(pthread_rwlock_wrlock);
HPCRUN_NEXT_OF(pthread_rwlock_timedrdlock);
HPCRUN_NEXT_OF(pthread_rwlock_timedwrlock);
HPCRUN_NEXT_OF(pthread_rwlock_clockrdlock);
HPCRUN_NEXT_OF(pthread_rwlock_clockwrlock);
HPCRUN_NEXT_OF(pthread_rwlock_unlock);
HPCRUN_NEXT_OF(pthread_rwlock_destroy);

namespace {

int ask_to_read(pthread_rwlock_t* place) {
  return HPCRUN_NEXT(pthread_rwlock_tryrdlock)(place);
}
int ask_to_write(pthread_rwlock_t* place) {
  return HPCRUN_NEXT(pthread_rwlock_trywrlock)(place);
}
int unlock_in_place(pthread_rwlock_t* place) {
  return HPCRUN_NEXT(pthread_rwlock_unlock)(place);
}
int destroy_in_place(pthread_rwlock_t* lock) {
  return HPCRUN_NEXT(pthread_rwlock_destroy)(lock);
}

constexpr ReadWriteCalls kInPlace{ask_to_write, unlock_in_place};

// Locks it wherever it is: `place`. wait() is the call that the program made, function() its code.
template <typename Function, typename Wait>
int take_at(pthread_rwlock_t* lock, pthread_rwlock_t* place, int (*ask)(pthread_rwlock_t*), bool may_ask,
            Function function, Wait wait) {
  if (!followed()) return wait(place);
  if (may_ask) [[likely]] {
    const int error = ask(place);
    if (error != EBUSY) [[likely]]
      return error;
  }
  return wait_for(LockKind::ReadWriteLock, lock, function(), [=] { return wait(place); });
}

template <typename Function, typename Wait>
int take_reading(pthread_rwlock_t* lock, Function function, bool may_ask, Wait wait) {
  return take_to_read(lock, kInPlace, [=](pthread_rwlock_t* place) {
    return take_at(lock, place, ask_to_read, may_ask, function, wait);
  });
}
template <typename Function, typename Wait>
int take_writing(pthread_rwlock_t* lock, Function function, bool may_ask, Wait wait) {
  return take_to_write(lock, sync_switches, kInPlace, [=](pthread_rwlock_t* place) {
    return take_at(lock, place, ask_to_write, may_ask, function, wait);
  });
}

#define HPCRUN_FUNCTION_LATER(name) [] { return HPCRUN_FUNCTION(name); }

}  // namespace

HPCRUN_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return take_reading(lock, HPCRUN_FUNCTION_LATER(pthread_rwlock_rdlock), true,
                      [](pthread_rwlock_t* place) { return HPCRUN_NEXT(pthread_rwlock_rdlock)(place); });
}
HPCRUN_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  return take_to_read(lock, kInPlace, ask_to_read);
}
HPCRUN_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) noexcept {
  return take_reading(
      lock, HPCRUN_FUNCTION_LATER(pthread_rwlock_timedrdlock), is_valid(until),
      [=](pthread_rwlock_t* place) { return HPCRUN_NEXT(pthread_rwlock_timedrdlock)(place, until); });
}
HPCRUN_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                             const timespec* until) noexcept {
  return take_reading(
      lock, HPCRUN_FUNCTION_LATER(pthread_rwlock_clockrdlock), is_valid(until, clock),
      [=](pthread_rwlock_t* place) { return HPCRUN_NEXT(pthread_rwlock_clockrdlock)(place, clock, until); });
}

HPCRUN_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return take_writing(lock, HPCRUN_FUNCTION_LATER(pthread_rwlock_wrlock), true,
                      [](pthread_rwlock_t* place) { return HPCRUN_NEXT(pthread_rwlock_wrlock)(place); });
}
HPCRUN_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  return take_to_write(lock, sync_switches, kInPlace, ask_to_write);
}
HPCRUN_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) noexcept {
  return take_writing(
      lock, HPCRUN_FUNCTION_LATER(pthread_rwlock_timedwrlock), is_valid(until),
      [=](pthread_rwlock_t* place) { return HPCRUN_NEXT(pthread_rwlock_timedwrlock)(place, until); });
}
HPCRUN_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                             const timespec* until) noexcept {
  return take_writing(
      lock, HPCRUN_FUNCTION_LATER(pthread_rwlock_clockwrlock), is_valid(until, clock),
      [=](pthread_rwlock_t* place) { return HPCRUN_NEXT(pthread_rwlock_clockwrlock)(place, clock, until); });
}

HPCRUN_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  if (is_waited_for(lock)) [[unlikely]]
    tell_release(lock, LockKind::ReadWriteLock, HPCRUN_FUNCTION(pthread_rwlock_unlock));
  return unlock_in_place(wherever(lock));
}
HPCRUN_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t* lock) noexcept {
  return destroy_read_write_lock(lock, destroy_in_place);
}

#define HPCRUN_OTHER_NAME(name) \
  HPCRUN_EXPORT __attribute__((alias(#name), copy(name))) int __##name(pthread_rwlock_t* lock) noexcept
HPCRUN_OTHER_NAME(pthread_rwlock_rdlock);
HPCRUN_OTHER_NAME(pthread_rwlock_tryrdlock);
HPCRUN_OTHER_NAME(pthread_rwlock_wrlock);
HPCRUN_OTHER_NAME(pthread_rwlock_trywrlock);
HPCRUN_OTHER_NAME(pthread_rwlock_unlock);
HPCRUN_OTHER_NAME(pthread_rwlock_destroy);

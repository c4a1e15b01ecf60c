// Interposes on calls in which threads wait for each other without a lock: conditions, semaphores, barriers,
// ends of threads. Most are cancellation points, whether they wait or not.

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "hpcrun/sync/preload/call.h"
#include "repair/locks/move.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(pthread_mutex_lock);
HPCRUN_NEXT_OF(pthread_mutex_unlock);
HPCRUN_NEXT_OF(pthread_cond_wait);
HPCRUN_NEXT_OF(pthread_cond_timedwait);
HPCRUN_NEXT_OF(pthread_cond_clockwait);
HPCRUN_NEXT_OF(cnd_wait);
HPCRUN_NEXT_OF(cnd_timedwait);
HPCRUN_NEXT_OF(sem_trywait);
HPCRUN_NEXT_OF(sem_wait);
HPCRUN_NEXT_OF(sem_timedwait);
HPCRUN_NEXT_OF(sem_clockwait);
HPCRUN_NEXT_OF(pthread_barrier_wait);
HPCRUN_NEXT_OF(pthread_join);
HPCRUN_NEXT_OF(pthread_timedjoin_np);
HPCRUN_NEXT_OF(pthread_clockjoin_np);
HPCRUN_NEXT_OF(thrd_join);

namespace {

template <typename Call>
[[gnu::noinline]] int blocked(LockKind kind, const void* object, const void* function, Call call) {
  if (!followed()) return call();
  Waiting wait(kind, object, function);
  const int result = unless_cancelled(call, [&wait] { wait.end(false, true); });
  wait.end(false, true);
  return result;
}

int take_in_place(pthread_mutex_t* mutex) {
  return HPCRUN_NEXT(pthread_mutex_lock)(mutex);
}

int release_in_place(pthread_mutex_t* mutex) {
  return HPCRUN_NEXT(pthread_mutex_unlock)(mutex);
}

// Waits with a mutex. wait(mutex or shadow) waits in the C library, which locks the same mutex again, also
// before the cleanup of a thread that is cancelled. `timed_out`: the result of a wait that failed.
template <typename Wait>
int wait_with(pthread_mutex_t* mutex, int timed_out, Wait wait) {
  if (pthread_mutex_t* const shadow = moved_to(mutex)) return wait(shadow);
  const auto settle = [=] { settle_mutex(mutex, sync_switches, release_in_place, take_in_place); };
  const int result = unless_cancelled([=] { return wait(mutex); }, settle);
  // With any other result, the call has not waited: the mutex is unchanged.
  if (result == 0 || result == timed_out) settle();
  return result;
}

// Waits for a condition; the mutex is released meanwhile.
template <typename Call>
int wait_for_condition(const void* condition, pthread_mutex_t* mutex, const void* function, int timed_out,
                       Call call) {
  if (is_waited_for(mutex)) tell_release(mutex, LockKind::Mutex, function);
  return blocked(LockKind::Condition, condition, function, [=] { return wait_with(mutex, timed_out, call); });
}

// True if the semaphore was acquired without waiting. sem_wait() and similar functions act on a cancellation
// even then.
bool had_without_waiting(sem_t* semaphore) {
  if (!followed()) return false;
  pthread_testcancel();
  const int before = errno;
  if (HPCRUN_NEXT(sem_trywait)(semaphore) == 0) return true;
  errno = before;
  return false;
}

}  // namespace

HPCRUN_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait_for_condition(
      condition, mutex, HPCRUN_FUNCTION(pthread_cond_wait), ETIMEDOUT,
      [=](pthread_mutex_t* place) { return HPCRUN_NEXT(pthread_cond_wait)(condition, place); });
}
HPCRUN_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                         const timespec* until) {
  return wait_for_condition(
      condition, mutex, HPCRUN_FUNCTION(pthread_cond_timedwait), ETIMEDOUT,
      [=](pthread_mutex_t* place) { return HPCRUN_NEXT(pthread_cond_timedwait)(condition, place, until); });
}
HPCRUN_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                         const timespec* until) {
  return wait_for_condition(condition, mutex, HPCRUN_FUNCTION(pthread_cond_clockwait), ETIMEDOUT,
                            [=](pthread_mutex_t* place) {
                              return HPCRUN_NEXT(pthread_cond_clockwait)(condition, place, clock, until);
                            });
}

// A mtx_t is a pthread_mutex_t under another name.
HPCRUN_EXPORT int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return wait_for_condition(condition, reinterpret_cast<pthread_mutex_t*>(mutex), HPCRUN_FUNCTION(cnd_wait),
                            thrd_timedout, [=](pthread_mutex_t* place) {
                              return HPCRUN_NEXT(cnd_wait)(condition, reinterpret_cast<mtx_t*>(place));
                            });
}
HPCRUN_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return wait_for_condition(condition, reinterpret_cast<pthread_mutex_t*>(mutex),
                            HPCRUN_FUNCTION(cnd_timedwait), thrd_timedout, [=](pthread_mutex_t* place) {
                              return HPCRUN_NEXT(cnd_timedwait)(condition, reinterpret_cast<mtx_t*>(place),
                                                                until);
                            });
}

HPCRUN_EXPORT int sem_wait(sem_t* semaphore) {
  if (had_without_waiting(semaphore)) return 0;
  return blocked(LockKind::Semaphore, semaphore, HPCRUN_FUNCTION(sem_wait),
                 [=] { return HPCRUN_NEXT(sem_wait)(semaphore); });
}
HPCRUN_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* until) {
  if (is_valid(until) && had_without_waiting(semaphore)) return 0;
  return blocked(LockKind::Semaphore, semaphore, HPCRUN_FUNCTION(sem_timedwait),
                 [=] { return HPCRUN_NEXT(sem_timedwait)(semaphore, until); });
}
HPCRUN_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  if (is_valid(until, clock) && had_without_waiting(semaphore)) return 0;
  return blocked(LockKind::Semaphore, semaphore, HPCRUN_FUNCTION(sem_clockwait),
                 [=] { return HPCRUN_NEXT(sem_clockwait)(semaphore, clock, until); });
}

HPCRUN_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  Waiting wait(LockKind::Barrier, barrier, HPCRUN_FUNCTION(pthread_barrier_wait));
  const int result = HPCRUN_NEXT(pthread_barrier_wait)(barrier);
  wait.end(false, result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
  return result;
}

// Joins are distinguished by their calling context.
HPCRUN_EXPORT int pthread_join(pthread_t thread, void** value) {
  return blocked(LockKind::Join, nullptr, HPCRUN_FUNCTION(pthread_join),
                 [=] { return HPCRUN_NEXT(pthread_join)(thread, value); });
}
HPCRUN_EXPORT int pthread_timedjoin_np(pthread_t thread, void** value, const timespec* until) {
  return blocked(LockKind::Join, nullptr, HPCRUN_FUNCTION(pthread_timedjoin_np),
                 [=] { return HPCRUN_NEXT(pthread_timedjoin_np)(thread, value, until); });
}
HPCRUN_EXPORT int pthread_clockjoin_np(pthread_t thread, void** value, clockid_t clock,
                                       const timespec* until) {
  return blocked(LockKind::Join, nullptr, HPCRUN_FUNCTION(pthread_clockjoin_np),
                 [=] { return HPCRUN_NEXT(pthread_clockjoin_np)(thread, value, clock, until); });
}
HPCRUN_EXPORT int thrd_join(thrd_t thread, int* value) {
  return blocked(LockKind::Join, nullptr, HPCRUN_FUNCTION(thrd_join),
                 [=] { return HPCRUN_NEXT(thrd_join)(thread, value); });
}

// In front of the calls in which threads wait for each other without a lock: conditions, semaphores,
// barriers, ends of threads. Most are cancellation points, whether they wait or not.

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "hpcrun/sync/preload/call.h"

using namespace hpcrun;

HPCRUN_STAND_BEFORE(pthread_cond_wait);
HPCRUN_STAND_BEFORE(pthread_cond_timedwait);
HPCRUN_STAND_BEFORE(pthread_cond_clockwait);
HPCRUN_STAND_BEFORE(cnd_wait);
HPCRUN_STAND_BEFORE(cnd_timedwait);
HPCRUN_STAND_BEFORE(sem_trywait);
HPCRUN_STAND_BEFORE(sem_wait);
HPCRUN_STAND_BEFORE(sem_timedwait);
HPCRUN_STAND_BEFORE(sem_clockwait);
HPCRUN_STAND_BEFORE(pthread_barrier_wait);
HPCRUN_STAND_BEFORE(pthread_join);
HPCRUN_STAND_BEFORE(pthread_timedjoin_np);
HPCRUN_STAND_BEFORE(pthread_clockjoin_np);
HPCRUN_STAND_BEFORE(thrd_join);

#define HPCRUN_FUNCTION(name) reinterpret_cast<const void*>(HPCRUN_BEHIND(name))

namespace {

template <typename Call>
[[gnu::noinline]] int blocked(LockKind kind, const void* object, const void* function, Call call) {
  Waiting wait(kind, object, function);
  const int result = unless_cancelled(call, [&wait] { wait.end(false, true); });
  wait.end(false, true);
  return result;
}

// The mutex is released meanwhile.
template <typename Call>
int wait_for_condition(const void* condition, const void* mutex, const void* function, Call call) {
  if (is_waited_for(mutex)) tell_release(mutex, LockKind::Mutex, function);
  return blocked(LockKind::Condition, condition, function, call);
}

// True where the semaphore was had without waiting. sem_wait() and its like act on a cancellation then, too.
bool had_without_waiting(sem_t* semaphore) {
  pthread_testcancel();
  const int before = errno;
  if (HPCRUN_BEHIND(sem_trywait)(semaphore) == 0) return true;
  errno = before;
  return false;
}

}  // namespace

HPCRUN_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait_for_condition(condition, mutex, HPCRUN_FUNCTION(pthread_cond_wait),
                            [=] { return HPCRUN_BEHIND(pthread_cond_wait)(condition, mutex); });
}
HPCRUN_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                         const timespec* until) {
  return wait_for_condition(condition, mutex, HPCRUN_FUNCTION(pthread_cond_timedwait),
                            [=] { return HPCRUN_BEHIND(pthread_cond_timedwait)(condition, mutex, until); });
}
HPCRUN_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                         const timespec* until) {
  return wait_for_condition(condition, mutex, HPCRUN_FUNCTION(pthread_cond_clockwait), [=] {
    return HPCRUN_BEHIND(pthread_cond_clockwait)(condition, mutex, clock, until);
  });
}
HPCRUN_EXPORT int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return wait_for_condition(condition, mutex, HPCRUN_FUNCTION(cnd_wait),
                            [=] { return HPCRUN_BEHIND(cnd_wait)(condition, mutex); });
}
HPCRUN_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return wait_for_condition(condition, mutex, HPCRUN_FUNCTION(cnd_timedwait),
                            [=] { return HPCRUN_BEHIND(cnd_timedwait)(condition, mutex, until); });
}

HPCRUN_EXPORT int sem_wait(sem_t* semaphore) {
  if (had_without_waiting(semaphore)) return 0;
  return blocked(LockKind::Semaphore, semaphore, HPCRUN_FUNCTION(sem_wait),
                 [=] { return HPCRUN_BEHIND(sem_wait)(semaphore); });
}
HPCRUN_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* until) {
  if (is_valid(until) && had_without_waiting(semaphore)) return 0;
  return blocked(LockKind::Semaphore, semaphore, HPCRUN_FUNCTION(sem_timedwait),
                 [=] { return HPCRUN_BEHIND(sem_timedwait)(semaphore, until); });
}
HPCRUN_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  if (is_valid(until, clock) && had_without_waiting(semaphore)) return 0;
  return blocked(LockKind::Semaphore, semaphore, HPCRUN_FUNCTION(sem_clockwait),
                 [=] { return HPCRUN_BEHIND(sem_clockwait)(semaphore, clock, until); });
}

HPCRUN_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  Waiting wait(LockKind::Barrier, barrier, HPCRUN_FUNCTION(pthread_barrier_wait));
  const int result = HPCRUN_BEHIND(pthread_barrier_wait)(barrier);
  wait.end(false, result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
  return result;
}

// What is joined is told by where that is done.
HPCRUN_EXPORT int pthread_join(pthread_t thread, void** value) {
  return blocked(LockKind::Join, nullptr, HPCRUN_FUNCTION(pthread_join),
                 [=] { return HPCRUN_BEHIND(pthread_join)(thread, value); });
}
HPCRUN_EXPORT int pthread_timedjoin_np(pthread_t thread, void** value, const timespec* until) {
  return blocked(LockKind::Join, nullptr, HPCRUN_FUNCTION(pthread_timedjoin_np),
                 [=] { return HPCRUN_BEHIND(pthread_timedjoin_np)(thread, value, until); });
}
HPCRUN_EXPORT int pthread_clockjoin_np(pthread_t thread, void** value, clockid_t clock,
                                       const timespec* until) {
  return blocked(LockKind::Join, nullptr, HPCRUN_FUNCTION(pthread_clockjoin_np),
                 [=] { return HPCRUN_BEHIND(pthread_clockjoin_np)(thread, value, clock, until); });
}
HPCRUN_EXPORT int thrd_join(thrd_t thread, int* value) {
  return blocked(LockKind::Join, nullptr, HPCRUN_FUNCTION(thrd_join),
                 [=] { return HPCRUN_BEHIND(thrd_join)(thread, value); });
}

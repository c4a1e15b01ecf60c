// libhpcrun-sync.so: in front of the C library's locks. Each is asked for without waiting first; only where
// that fails is there something to measure. The functions that ask do what those that wait do where these
// need not wait, errors included (glibc 2.36 and before); what they refuse goes to those that wait.

#include <pthread.h>
#include <threads.h>

#include "hpcrun/sync/preload/call.h"

namespace hpcrun {

constinit std::atomic<const SyncInterface*> sync_interface{nullptr};

void sync_interface_code() noexcept {}

namespace {

__attribute__((constructor(102))) void find_runtime() noexcept {
  const auto find =
      reinterpret_cast<decltype(&hpcrun_sync_interface)>(dlsym(RTLD_DEFAULT, kSyncInterfaceName));
  if (!find)
    dlerror();
  else
    sync_interface.store(find(this_library()), std::memory_order_release);
}

// Did the thread come to have the lock?
bool has_lock(int error) noexcept {
  return error == 0 || error == EOWNERDEAD;
}

// EDEADLK, EINVAL and their like come at once.
bool has_waited(int error) noexcept {
  return has_lock(error) || error == ETIMEDOUT || error == ENOTRECOVERABLE;
}

template <typename Call>
[[gnu::noinline]] int wait_for(LockKind kind, const void* lock, const void* function, Call call) noexcept {
  Waiting wait(kind, lock, function);
  const int error = call();
  wait.end(has_lock(error), has_waited(error));
  return error;
}

// The C11 functions have results of their own.
template <typename Call>
[[gnu::noinline]] int wait_for_c11(const void* lock, const void* function, Call call) noexcept {
  Waiting wait(LockKind::Mutex, lock, function);
  const int result = call();
  wait.end(result == thrd_success, result == thrd_success || result == thrd_timedout);
  return result;
}

}  // namespace

}  // namespace hpcrun

using namespace hpcrun;

HPCRUN_STAND_BEFORE(pthread_mutex_trylock);
HPCRUN_STAND_BEFORE(pthread_mutex_lock);
HPCRUN_STAND_BEFORE(pthread_mutex_timedlock);
HPCRUN_STAND_BEFORE(pthread_mutex_clocklock);
HPCRUN_STAND_BEFORE(pthread_mutex_unlock);
HPCRUN_STAND_BEFORE(mtx_trylock);
HPCRUN_STAND_BEFORE(mtx_lock);
HPCRUN_STAND_BEFORE(mtx_timedlock);
HPCRUN_STAND_BEFORE(mtx_unlock);
HPCRUN_STAND_BEFORE(pthread_rwlock_tryrdlock);
HPCRUN_STAND_BEFORE(pthread_rwlock_trywrlock);
HPCRUN_STAND_BEFORE(pthread_rwlock_rdlock);
HPCRUN_STAND_BEFORE(pthread_rwlock_wrlock);
HPCRUN_STAND_BEFORE(pthread_rwlock_timedrdlock);
HPCRUN_STAND_BEFORE(pthread_rwlock_timedwrlock);
HPCRUN_STAND_BEFORE(pthread_rwlock_clockrdlock);
HPCRUN_STAND_BEFORE(pthread_rwlock_clockwrlock);
HPCRUN_STAND_BEFORE(pthread_rwlock_unlock);
HPCRUN_STAND_BEFORE(pthread_spin_trylock);
HPCRUN_STAND_BEFORE(pthread_spin_lock);
HPCRUN_STAND_BEFORE(pthread_spin_unlock);

#define HPCRUN_FUNCTION(name) reinterpret_cast<const void*>(HPCRUN_BEHIND(name))

// Asks with `ask` where that may be asked first; waits in `name`.
#define HPCRUN_LOCK(kind, name, ask, may_ask, lock, ...)                                              \
  do {                                                                                                \
    if (may_ask) [[likely]] {                                                                         \
      const int error = HPCRUN_BEHIND(ask)(lock);                                                     \
      if (error != EBUSY) [[likely]]                                                                  \
        return error;                                                                                 \
    }                                                                                                 \
    return wait_for(LockKind::kind, const_cast<const void*>(static_cast<const volatile void*>(lock)), \
                    HPCRUN_FUNCTION(name),                                                            \
                    [=] { return HPCRUN_BEHIND(name)(lock __VA_OPT__(, ) __VA_ARGS__); });            \
  } while (false)
#define HPCRUN_UNLOCK(kind, name, lock)                                                      \
  do {                                                                                       \
    const void* const at = const_cast<const void*>(static_cast<const volatile void*>(lock)); \
    if (is_waited_for(at)) [[unlikely]]                                                      \
      tell_release(at, LockKind::kind, HPCRUN_FUNCTION(name));                               \
    return HPCRUN_BEHIND(name)(lock);                                                        \
  } while (false)

HPCRUN_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  HPCRUN_LOCK(Mutex, pthread_mutex_lock, pthread_mutex_trylock, true, mutex);
}
HPCRUN_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  HPCRUN_LOCK(Mutex, pthread_mutex_timedlock, pthread_mutex_trylock, is_valid(until), mutex, until);
}
HPCRUN_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                          const timespec* until) noexcept {
  HPCRUN_LOCK(Mutex, pthread_mutex_clocklock, pthread_mutex_trylock, is_valid(until, clock), mutex, clock,
              until);
}
HPCRUN_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  HPCRUN_UNLOCK(Mutex, pthread_mutex_unlock, mutex);
}

HPCRUN_EXPORT int mtx_lock(mtx_t* mutex) {
  const int result = HPCRUN_BEHIND(mtx_trylock)(mutex);
  if (result != thrd_busy) return result;
  return wait_for_c11(mutex, HPCRUN_FUNCTION(mtx_lock), [=] { return HPCRUN_BEHIND(mtx_lock)(mutex); });
}
HPCRUN_EXPORT int mtx_timedlock(mtx_t* mutex, const timespec* until) {
  if (is_valid(until)) {
    const int result = HPCRUN_BEHIND(mtx_trylock)(mutex);
    if (result != thrd_busy) return result;
  }
  return wait_for_c11(mutex, HPCRUN_FUNCTION(mtx_timedlock),
                      [=] { return HPCRUN_BEHIND(mtx_timedlock)(mutex, until); });
}
HPCRUN_EXPORT int mtx_unlock(mtx_t* mutex) {
  HPCRUN_UNLOCK(Mutex, mtx_unlock, mutex);
}

HPCRUN_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  HPCRUN_LOCK(ReadWriteLock, pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, true, lock);
}
HPCRUN_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  HPCRUN_LOCK(ReadWriteLock, pthread_rwlock_wrlock, pthread_rwlock_trywrlock, true, lock);
}
HPCRUN_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) noexcept {
  HPCRUN_LOCK(ReadWriteLock, pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, is_valid(until), lock,
              until);
}
HPCRUN_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) noexcept {
  HPCRUN_LOCK(ReadWriteLock, pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, is_valid(until), lock,
              until);
}
HPCRUN_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                             const timespec* until) noexcept {
  HPCRUN_LOCK(ReadWriteLock, pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, is_valid(until, clock),
              lock, clock, until);
}
HPCRUN_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                             const timespec* until) noexcept {
  HPCRUN_LOCK(ReadWriteLock, pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, is_valid(until, clock),
              lock, clock, until);
}
HPCRUN_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  HPCRUN_UNLOCK(ReadWriteLock, pthread_rwlock_unlock, lock);
}

HPCRUN_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  HPCRUN_LOCK(SpinLock, pthread_spin_lock, pthread_spin_trylock, true, lock);
}
HPCRUN_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  HPCRUN_UNLOCK(SpinLock, pthread_spin_unlock, lock);
}

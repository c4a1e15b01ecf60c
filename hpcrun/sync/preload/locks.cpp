// libhpcrun-sync.so: in front of the C library's locks, read-write and spin locks here. Where waiting is
// measured each is asked for without waiting first, as mutexes are (mutexes.cpp). Neither is ever moved.

#include <pthread.h>

#include "hpcrun/sync/preload/call.h"
#include "hpcrun/sync/preload/wait_for.h"
#include "repair/locks/move.h"

namespace hpcrun {

constinit SyncSwitches sync_switches{};

void sync_library_code() noexcept {}

namespace {

__attribute__((constructor(102))) void find_runtime() noexcept {
  const auto attach = reinterpret_cast<decltype(&hpcrun_sync_attach)>(dlsym(RTLD_DEFAULT, kSyncAttachName));
  if (!attach)
    dlerror();
  else
    attach(this_library(), &sync_switches);
}

}  // namespace

}  // namespace hpcrun

using namespace hpcrun;

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

// Asks with `ask` where that may be asked first; waits in `name`.
#define HPCRUN_LOCK(kind, name, ask, may_ask, lock, ...)                                              \
  do {                                                                                                \
    if (!followed()) return HPCRUN_BEHIND(name)(lock __VA_OPT__(, ) __VA_ARGS__);                     \
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

namespace {

void note_spin_lock(pthread_spinlock_t* lock) {
  const LockRepair* const repair = sync_switches.repair.load(std::memory_order_acquire);
  if (repair && lies_on_contended_line(lock, sizeof *lock, *repair)) [[unlikely]]
    decline_move(lock, LockDeclined::Spin, *repair);
}

}  // namespace

HPCRUN_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  note_spin_lock(lock);
  HPCRUN_LOCK(SpinLock, pthread_spin_lock, pthread_spin_trylock, true, lock);
}
HPCRUN_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  HPCRUN_UNLOCK(SpinLock, pthread_spin_unlock, lock);
}

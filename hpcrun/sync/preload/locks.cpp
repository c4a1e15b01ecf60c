// libprof-locks.so: interposes on the C library's locks; this file, on spin locks. While waiting is
// measured, each lock is tried first without waiting, as mutexes are (mutexes.cpp). Spin locks are never
// moved: they have no room for the address.

#include <pthread.h>

#include "hpcrun/sync/preload/call.h"
#include "hpcrun/sync/preload/direct_mutex.h"
#include "hpcrun/sync/preload/wait_for.h"
#include "repair/locks/move.h"

namespace hpcrun {

constinit SyncSwitches sync_switches{};

void sync_library_code() noexcept {}

namespace {

__attribute__((constructor(102))) void find_runtime() noexcept {
  const auto attach = reinterpret_cast<decltype(&hpcrun_sync_attach)>(dlsym(RTLD_DEFAULT, kSyncAttachName));
  if (!attach) {
    dlerror();
    return;
  }
  sync_switches.direct_calls = direct_calls_at();
  attach(this_library(), &sync_switches);
  sync_switches.set_detour(kUnknownMutexes, !knows_mutexes());
}

}  // namespace

}  // namespace hpcrun

using namespace hpcrun;

HPCRUN_NEXT_OF(pthread_spin_trylock);
HPCRUN_NEXT_OF(pthread_spin_lock);
HPCRUN_NEXT_OF(pthread_spin_unlock);

namespace {

const void* address_of(pthread_spinlock_t* lock) {
  return const_cast<const void*>(static_cast<const volatile void*>(lock));
}

void note_spin_lock(pthread_spinlock_t* lock) {
  const LockRepair* const repair = sync_switches.repair.load(std::memory_order_acquire);
  if (repair && lies_on_contended_line(lock, sizeof *lock, *repair)) [[unlikely]]
    decline_move(lock, LockDeclined::Spin, *repair);
}

}  // namespace

HPCRUN_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  note_spin_lock(lock);
  if (!followed()) return HPCRUN_NEXT(pthread_spin_lock)(lock);
  const int error = HPCRUN_NEXT(pthread_spin_trylock)(lock);
  if (error != EBUSY) [[likely]]
    return error;
  return wait_for(LockKind::SpinLock, address_of(lock), HPCRUN_FUNCTION(pthread_spin_lock),
                  [=] { return HPCRUN_NEXT(pthread_spin_lock)(lock); });
}
HPCRUN_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  if (is_waited_for(address_of(lock))) [[unlikely]]
    tell_release(address_of(lock), LockKind::SpinLock, HPCRUN_FUNCTION(pthread_spin_unlock));
  return HPCRUN_NEXT(pthread_spin_unlock)(lock);
}

#include "repair/locks/move_read_write.h"

namespace hpcrun {

void move_read_write_lock(pthread_rwlock_t* lock, const LockRepair& repair,
                          const ReadWriteCalls& calls) noexcept {
  if (lock->__data.__shared) return decline_move(lock, LockDeclined::Shared, repair);
  ShadowLock* const shadow = take_shadow(lock, repair);
  if (!shadow) return;
  shadow->read_write = PTHREAD_RWLOCK_INITIALIZER;
  shadow->read_write.__data.__flags = lock->__data.__flags;  // readers or writers preferred
  calls.try_to_write(&shadow->read_write);                   // succeeds: no other thread has its address
  shadow->original.store(lock, std::memory_order_relaxed);
  lead_to(lock, shadow);
  calls.unlock(lock);
  repair.moved(lock);
}

int destroy_read_write_lock(pthread_rwlock_t* lock, int (*destroy)(pthread_rwlock_t*)) noexcept {
  const bool was_moved = moved_to(lock);
  const int error = destroy(lock);
  if (!error && was_moved) lead_to(lock, nullptr);
  return error;
}

}  // namespace hpcrun

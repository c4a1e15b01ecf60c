#pragma once
// Moves read-write locks as move.h moves mutexes. Only a thread that has one for writing has it alone, so
// only such a thread moves it, and a lock that is never written stays. A thread that took the lock in its
// original place, for reading or writing, checks again. If the lock was moved meanwhile, it releases the
// original and takes the shadow. No reader had the lock at the move, so no thread releases what it did not
// take.
//
// A thread may try the original without waiting and find another one there that is about to leave it. It gets
// EBUSY, which is the result it would have had then, because the thread that moved the lock had it for
// writing.

#include <pthread.h>

#include "repair/locks/move.h"

namespace hpcrun {

// The C library's functions.
struct ReadWriteCalls {
  int (*try_to_write)(pthread_rwlock_t*);
  int (*unlock)(pthread_rwlock_t*);
};

// Returns the shadow, or nullptr if the lock is in its original place.
inline pthread_rwlock_t* moved_to(const pthread_rwlock_t* lock) noexcept {
  ShadowLock* const shadow = shadow_table.find(lock);
  return shadow ? &shadow->read_write : nullptr;
}
inline pthread_rwlock_t* wherever(pthread_rwlock_t* lock) noexcept {
  pthread_rwlock_t* const shadow = moved_to(lock);
  return shadow ? shadow : lock;
}

// Moves the lock if possible. The calling thread has it for writing in its original place, and still has it
// afterwards.
void move_read_write_lock(pthread_rwlock_t* lock, const LockRepair& repair,
                          const ReadWriteCalls& calls) noexcept;

// The size that the C library writes of a lock when it takes and releases it.
constexpr uint32_t kReadWriteBytesWritten = offsetof(pthread_rwlock_t, __data.__shared);

// Calls take(lock or shadow), which calls the C library. Returns the program's result; 0: the thread has the
// lock.
template <typename Take>
inline int take_to_read(pthread_rwlock_t* lock, const ReadWriteCalls& calls, Take take) noexcept {
  if (pthread_rwlock_t* const shadow = moved_to(lock)) return take(shadow);
  if (const int error = take(lock)) return error;
  pthread_rwlock_t* const shadow = moved_to(lock);
  if (!shadow) [[likely]]
    return 0;
  calls.unlock(lock);
  return take(shadow);
}

template <typename Take>
inline int take_to_write(pthread_rwlock_t* lock, const SyncSwitches& switches, const ReadWriteCalls& calls,
                         Take take) noexcept {
  bool is_in_place = false;
  const int error = take_to_read(lock, calls, [&](pthread_rwlock_t* place) {
    is_in_place = place == lock;
    return take(place);
  });
  if (error || !is_in_place) return error;
  if (const LockRepair* const repair = switches.repair.load(std::memory_order_acquire))
    if (lies_on_contended_line(lock, kReadWriteBytesWritten, *repair)) [[unlikely]]
      move_read_write_lock(lock, *repair, calls);
  return 0;
}

// Calls the C library's pthread_rwlock_destroy(), `destroy`, for a lock wherever it is. Afterwards the
// original place holds no moved lock.
int destroy_read_write_lock(pthread_rwlock_t* lock, int (*destroy)(pthread_rwlock_t*)) noexcept;

}  // namespace hpcrun

#pragma once
// Moves read-write locks as move.h does mutexes. Only a thread that has one for writing has it alone, so
// these alone move: a lock that is never written to stays. Whoever got the lock in its original place, to
// read or to write, looks again, gives it back and takes the shadow where it was moved meanwhile; since no
// reader had it at that moment, none ever releases what it did not take.
//
// A thread that moved a lock had it for writing as it did, so that whoever asks for the original without
// waiting, and finds a passer-by there, gets the answer that it would have had then: EBUSY.

#include <pthread.h>

#include "repair/locks/move.h"

namespace hpcrun {

// The C library's.
struct ReadWriteCalls {
  int (*try_to_write)(pthread_rwlock_t*);
  int (*unlock)(pthread_rwlock_t*);
};

// nullptr: the lock is where it was made.
inline pthread_rwlock_t* moved_to(const pthread_rwlock_t* lock) noexcept {
  ShadowLock* const shadow = shadow_table.find(lock);
  return shadow ? &shadow->read_write : nullptr;
}
inline pthread_rwlock_t* wherever(pthread_rwlock_t* lock) noexcept {
  pthread_rwlock_t* const shadow = moved_to(lock);
  return shadow ? shadow : lock;
}

// The calling thread has the lock for writing in its original place, and has it afterwards, perhaps moved.
void move_read_write_lock(pthread_rwlock_t* lock, const LockRepair& repair,
                          const ReadWriteCalls& calls) noexcept;

// What the C library writes of a lock that it takes and releases.
constexpr uint32_t kReadWriteBytesWritten = offsetof(pthread_rwlock_t, __data.__shared);

// take(lock or shadow) calls the C library; 0: the thread has it. Its result is the program's.
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

// The C library's pthread_rwlock_destroy() of a lock wherever it is. `destroy` is the C library's. What is
// left in its place is no moved lock.
int destroy_read_write_lock(pthread_rwlock_t* lock, int (*destroy)(pthread_rwlock_t*)) noexcept;

}  // namespace hpcrun

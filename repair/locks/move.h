#pragma once
// Moves locks on contended cache lines to lines of their own while the program runs: TMI's indirection of
// synchronisation objects (sections 3.2 and 4.3). This alone removes false sharing between adjacent locks.
//
// A mutex is moved by a thread that has just taken it, a read-write lock (move_read_write.h) by one that has
// just taken it for writing. Meanwhile other threads only wait for the mutex. The thread locks a shadow in
// the same way, publishes its address, and releases the mutex, which wakes the waiters. From then on the
// mutex only holds the address of its shadow, and its line is only read. Code that interposes on the C
// library must follow two rules:
//
// 1. Before each call that takes a mutex it calls moved_to(), and passes the shadow to the C library if there
//    is one. A mutex is never moved back.
// 2. A thread that took a mutex in its original place checks again: if the mutex was moved meanwhile, the
//    thread releases the original and takes the shadow (take_mutex(), settle_mutex()).
//
// The shadow is of the same kind, so each call on it has the same result, error or not. All functions may be
// called from any thread and preserve errno. They are async-signal-safe as far as the program's own use of
// the lock is.

#include <pthread.h>

#include "hpcrun/contention/contended_lines.h"
#include "hpcrun/sync/interface.h"
#include "repair/locks/shadow_table.h"

namespace hpcrun {

using MutexCall = int (*)(pthread_mutex_t*);

// Returns the shadow, or nullptr if the mutex is in its original place.
inline pthread_mutex_t* moved_to(const pthread_mutex_t* mutex) noexcept {
  ShadowLock* const shadow = shadow_table.find(mutex);
  return shadow ? &shadow->mutex : nullptr;
}
inline pthread_mutex_t* wherever(pthread_mutex_t* mutex) noexcept {
  pthread_mutex_t* const shadow = moved_to(mutex);
  return shadow ? shadow : mutex;
}

// Moves the mutex if possible. The calling thread has it in its original place, and still has it afterwards.
// `unlock` is the C library's.
void move_mutex(pthread_mutex_t* mutex, const LockRepair& repair, MutexCall unlock) noexcept;

// Reports, once for each lock, that the lock is not moved.
void decline_move(const volatile void* lock, LockDeclined reason, const LockRepair& repair) noexcept;

// Returns the shadow to move the lock to, which only the calling thread has. Returns nullptr if the lock
// stays: there are too many, or other processes may map its memory and would not find the shadow.
ShadowLock* take_shadow(const void* lock, const LockRepair& repair) noexcept;

// Publishes the shadow as the lock's; nullptr: none.
void lead_to(void* lock, const ShadowLock* shadow) noexcept;

// Checks the `bytes` bytes of the lock that taking and releasing it writes.
inline bool lies_on_contended_line(const volatile void* lock, uint32_t bytes,
                                   const LockRepair& repair) noexcept {
  const auto first = reinterpret_cast<uint64_t>(lock);
  const uint64_t last = first + bytes - 1;
  constexpr uint64_t kLineBytes = 64;
  if (repair.lines->is_empty()) [[likely]]
    return false;
  return repair.lines->holds(first) || (first / kLineBytes != last / kLineBytes && repair.lines->holds(last));
}

// The size that the C library writes of a mutex when it takes and releases it.
constexpr uint32_t kMutexBytesWritten = offsetof(pthread_mutex_t, __data.__kind);

// True if settle_mutex() has anything to do for a mutex that the thread took in its original place.
inline bool is_to_be_settled(const pthread_mutex_t* mutex, const SyncSwitches& switches) noexcept {
  if (shadow_address(mutex)) [[unlikely]]
    return true;
  const LockRepair* const repair = switches.repair.load(std::memory_order_acquire);
  return repair && lies_on_contended_line(mutex, kMutexBytesWritten, *repair);
}

// Called after the C library has given the thread the mutex in its original place. Calls take(shadow), which
// calls the C library, if the mutex was moved meanwhile. Returns 0 if the thread has the mutex.
template <typename Take>
inline int settle_mutex(pthread_mutex_t* mutex, const SyncSwitches& switches, MutexCall unlock,
                        Take take) noexcept {
  if (pthread_mutex_t* const shadow = moved_to(mutex)) [[unlikely]] {
    unlock(mutex);
    return take(shadow);
  }
  if (const LockRepair* const repair = switches.repair.load(std::memory_order_acquire))
    if (lies_on_contended_line(mutex, kMutexBytesWritten, *repair)) [[unlikely]]
      move_mutex(mutex, *repair, unlock);
  return 0;
}

// Calls take(mutex or shadow), which calls the C library. Returns the program's result; 0: the thread has the
// mutex.
template <typename Take>
inline int take_mutex(pthread_mutex_t* mutex, const SyncSwitches& switches, MutexCall unlock,
                      Take take) noexcept {
  if (pthread_mutex_t* const shadow = moved_to(mutex)) return take(shadow);
  if (const int error = take(mutex)) return error;
  return settle_mutex(mutex, switches, unlock, take);
}

// Calls the C library's pthread_mutex_destroy(), `destroy`, for a mutex wherever it is. Afterwards the
// original place holds no moved mutex.
int destroy_mutex(pthread_mutex_t* mutex, MutexCall destroy) noexcept;

}  // namespace hpcrun

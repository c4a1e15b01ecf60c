#pragma once
// Gives locks that lie on contended cache lines lines of their own, while the program runs: the indirection
// of synchronisation objects of TMI (sections 3.2 and 4.3), by which alone locks that lie side by side stop
// to disturb each other.
//
// A mutex is moved by a thread that has just got it, a read-write lock (move_read_write.h) by one that has
// just got it for writing. While it has it, nobody else does anything to the mutex but wait for it: so a
// shadow becomes locked as the mutex is, the way to it is published, and the mutex is released, which wakes
// who waits. From then on the mutex says nothing but where its shadow is, and its line is only read. The
// rules that whoever stands in front of the C library has to follow:
//
// 1. Before each call that takes a mutex it asks where that was moved to (moved_to()), and gives the C
// library
//    the shadow in its place. Nobody ever moves a mutex back.
// 2. A thread that got a mutex in its original place looks again: if it was moved meanwhile, the thread
//    releases the original, and takes the shadow (take_mutex(), settle_mutex()).
//
// The shadow is of the same kind, so that each call on it gives the same result, error or not. All functions
// may be called from any thread, keep errno, and are async-signal-safe but for the program's own rules about
// locks.

#include <pthread.h>

#include "hpcrun/memory/contended_lines.h"
#include "hpcrun/sync/interface.h"
#include "repair/locks/shadow_table.h"

namespace hpcrun {

using MutexCall = int (*)(pthread_mutex_t*);

// nullptr: the mutex is where it was made.
inline pthread_mutex_t* moved_to(const pthread_mutex_t* mutex) noexcept {
  ShadowLock* const shadow = shadow_table.find(mutex);
  return shadow ? &shadow->mutex : nullptr;
}
inline pthread_mutex_t* wherever(pthread_mutex_t* mutex) noexcept {
  pthread_mutex_t* const shadow = moved_to(mutex);
  return shadow ? shadow : mutex;
}

// The calling thread has the mutex in its original place, and has it afterwards, perhaps moved. `unlock` is
// the C library's.
void move_mutex(pthread_mutex_t* mutex, const LockRepair& repair, MutexCall unlock) noexcept;

// A lock that would have been moved stays.
void decline_move(const volatile void* lock, LockDeclined reason, const LockRepair& repair) noexcept;

// What to move the lock to, which the calling thread has, alone; nullptr: it stays, because there are too
// many, or it lies in memory that other processes may have as well, who do not know the way.
ShadowLock* take_shadow(const void* lock, const LockRepair& repair) noexcept;

// From now on the lock leads there; nullptr: nowhere.
void lead_to(void* lock, const ShadowLock* shadow) noexcept;

// `bytes` of it are written where it is taken and released.
inline bool lies_on_contended_line(const volatile void* lock, uint32_t bytes,
                                   const LockRepair& repair) noexcept {
  const auto first = reinterpret_cast<uint64_t>(lock);
  const uint64_t last = first + bytes - 1;
  constexpr uint64_t kLineBytes = 64;
  if (repair.lines->is_empty()) [[likely]]
    return false;
  return repair.lines->holds(first) || (first / kLineBytes != last / kLineBytes && repair.lines->holds(last));
}

// What the C library writes of a mutex that it takes and releases.
constexpr uint32_t kMutexBytesWritten = offsetof(pthread_mutex_t, __data.__kind);

// Of a mutex that the thread got in its original place: whether settle_mutex() has anything to do.
inline bool is_to_be_settled(const pthread_mutex_t* mutex, const SyncSwitches& switches) noexcept {
  if (shadow_address(mutex)) [[unlikely]]
    return true;
  const LockRepair* const repair = switches.repair.load(std::memory_order_acquire);
  return repair && lies_on_contended_line(mutex, kMutexBytesWritten, *repair);
}

// The C library has given the thread the mutex in its original place. take(shadow) calls the C library once
// more where that is needed; 0: the thread has it.
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

// take(mutex or shadow) calls the C library; 0: the thread has it. Its result is the program's.
template <typename Take>
inline int take_mutex(pthread_mutex_t* mutex, const SyncSwitches& switches, MutexCall unlock,
                      Take take) noexcept {
  if (pthread_mutex_t* const shadow = moved_to(mutex)) return take(shadow);
  if (const int error = take(mutex)) return error;
  return settle_mutex(mutex, switches, unlock, take);
}

// The C library's pthread_mutex_destroy() of a mutex wherever it is. `destroy` is the C library's. What is
// left in its place is no moved mutex.
int destroy_mutex(pthread_mutex_t* mutex, MutexCall destroy) noexcept;

}  // namespace hpcrun

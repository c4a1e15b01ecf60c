#pragma once
// Which mutexes only one thread takes. What such a thread wrote while it had one need not reach common memory
// as it releases it, and it need not look for what others wrote as it gets it: nobody is told, and nobody
// tells. Another thread that takes the mutex later has the first one commit, and both are then two of
// several, for whom each release and each lock commits, until one has taken it many times in a row (lazy
// release consistency, Keleher, Cox and Zwaenepoel, 1992, for as long as there is one thread). TMI,
// section 3.3, commits at each: in programs with a lock in each object these are most, and each that wrote
// something takes a cache line from others.
//
// Only where all of the program is annotated (pass/regions.h). In others threads may tell each other that
// there is something by a plain store, which nobody sees, and read it under a lock that has nothing to do
// with that: there each lock and each release commits.
//
// What is known of a mutex is read and written by who has it. lock_protocol.h has the steps.

#include <atomic>
#include <cstdint>

#include "repair/isolate/own_pages.h"

namespace hpcrun {

// How many mutexes are known to have been taken by twins. More than there is room for commit each time.
extern constinit std::atomic<uint32_t> known_mutexes;

// Of the calling thread, which got the mutex just now, or is about to release it. Async-signal-safe. Wait, in
// the first, until another thread has committed: that one is asked by a signal, and takes it in any code.
void follow_lock(const void* mutex) noexcept;
void follow_unlock(const void* mutex) noexcept;

inline void after_lock(const void* mutex) noexcept {
  if (own_pages || known_mutexes.load(std::memory_order_relaxed)) [[unlikely]]
    follow_lock(mutex);
}
inline void before_unlock(const void* mutex) noexcept {
  if (own_pages) [[unlikely]]
    follow_unlock(mutex);
}

// While all threads are at home: all is forgotten. False: each time commits.
void begin_lock_users(bool follows) noexcept;

}  // namespace hpcrun

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

#include "repair/isolate/controller/lock_protocol.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// Of a thread with private pages: the place of its record, and the number of the time that it has them.
constexpr unsigned kPlaceBits = 12;
static_assert(kMaxThreads == 1 << kPlaceBits);
inline LockUser user_of(const PrivatePages& own) noexcept {
  const uint64_t number = own.number();  // read once: a handler may bring the thread home
  return number && own.count() > 0 ? number << kPlaceBits | own.place() : kNobody;
}

// Of one mutex until all is forgotten. A cache line: threads with different mutexes do not meet here.
class alignas(64) KnownMutex {
 public:
  std::atomic<const void*> mutex{nullptr};

  LockUser load() const noexcept { return user_.load(std::memory_order_relaxed); }
  void store(LockUser user) noexcept { user_.store(user, std::memory_order_relaxed); }
  LockHistory& history() noexcept { return history_; }
  void forget() noexcept {
    store(kNobody);
    history_ = {};
    mutex.store(nullptr, std::memory_order_relaxed);
  }

 private:
  std::atomic<LockUser> user_{kNobody};
  LockHistory history_;
};
constexpr uint32_t kKnownPlaces = 1024;
extern constinit KnownMutex known_places[kKnownPlaces];

// Where the mutex is, or where to begin to look for it.
inline uint32_t first_place_of(const void* mutex) noexcept {
  return static_cast<uint32_t>(reinterpret_cast<uint64_t>(mutex) / 8 * 0x9e3779b97f4a7c15u >> 40) %
         kKnownPlaces;
}

// Of who has the mutex: whether it is told at the first look that the thread alone takes it.
inline bool is_alone_with(const PrivatePages& own, const void* mutex) noexcept {
  const KnownMutex& place = known_places[first_place_of(mutex)];
  return place.mutex.load(std::memory_order_relaxed) == mutex && is_only_user(place.load(), user_of(own));
}

// How many mutexes are known to have been taken by converted threads. More than there is room for commit each
// time.
extern constinit std::atomic<uint32_t> known_mutexes;

// Of the calling thread, which got the mutex just now, or is about to release it. Async-signal-safe. Wait, in
// the first, until another thread has committed: that one is asked by a signal, and takes it in any code.
void follow_lock(const void* mutex) noexcept;
void follow_unlock(const void* mutex) noexcept;

inline void after_lock(const void* mutex) noexcept {
  const PrivatePages* const own = own_pages;
  if (own && is_alone_with(*own, mutex)) return;
  if (own || known_mutexes.load(std::memory_order_relaxed)) [[unlikely]]
    follow_lock(mutex);
}
inline void before_unlock(const void* mutex) noexcept {
  PrivatePages* const own = own_pages;
  if (!own) [[likely]]
    return;
  if (is_alone_with(*own, mutex))
    own->owe();
  else
    follow_unlock(mutex);
}

// While all threads are at home: all is forgotten. False: each time commits.
void begin_lock_users(bool follows) noexcept;

}  // namespace hpcrun

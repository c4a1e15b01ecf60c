#pragma once
// Finds mutexes that only one thread takes. What such a thread wrote need not reach common memory when it
// releases the mutex, and it need not check for others' stores when it takes it: no other thread synchronises
// by that mutex. When another thread takes the mutex, it has the first one commit. From then on both commit
// at each lock and release, until one has taken the mutex many times in a row (lazy release consistency,
// Keleher, Cox and Zwaenepoel, 1992, as long as there is one thread). TMI, section 3.3, always commits. In
// programs with a lock in each object most commits would be at such mutexes, and each that wrote something
// takes a cache line from other threads.
//
// Applies only if all of the program is annotated (pass/regions.h). In other programs a thread may announce
// data by a plain store, which cannot be intercepted, and another may read it under an unrelated lock. There
// each lock and each release commits.
//
// The thread that has a mutex reads and writes what is known of it. lock_protocol.h has the steps.

#include <atomic>
#include <cstdint>

#include "repair/isolate/controller/lock_protocol.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// Identifies a thread with private pages: the index of its record, and the number of the time for which it
// has them.
constexpr unsigned kPlaceBits = 12;
static_assert(kMaxThreads == 1 << kPlaceBits);
inline LockUser user_of(const PrivatePages& own) noexcept {
  const uint64_t number = own.number();  // read once: a handler may bring the thread home
  return number && own.count() > 0 ? number << kPlaceBits | own.place() : kNobody;
}

// The history of one mutex until all are cleared. It fills a cache line, so threads with different mutexes do
// not contend here.
class alignas(64) KnownMutex {
 public:
  std::atomic<const void*> mutex{nullptr};

  LockUser load() const noexcept { return user_.load(std::memory_order_relaxed); }
  void store(LockUser user) noexcept { user_.store(user, std::memory_order_relaxed); }
  LockHistory& history() noexcept { return history_; }
  void clear() noexcept {
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

// Returns the entry of the mutex, or the one at which the search for it begins.
inline uint32_t first_place_of(const void* mutex) noexcept {
  return static_cast<uint32_t>(reinterpret_cast<uint64_t>(mutex) / 8 * 0x9e3779b97f4a7c15u >> 40) %
         kKnownPlaces;
}

// True if the first entry shows that only the calling thread, which has the mutex, takes it.
inline bool is_alone_with(const PrivatePages& own, const void* mutex) noexcept {
  const KnownMutex& place = known_places[first_place_of(mutex)];
  return place.mutex.load(std::memory_order_relaxed) == mutex && is_only_user(place.load(), user_of(own));
}

// The number of mutexes that converted threads are known to have taken. Those for which there is no room
// commit each time.
extern constinit std::atomic<uint32_t> known_mutexes;

// Called by the thread that has just taken the mutex, or is about to release it. Async-signal-safe.
// follow_lock() may wait until another thread has committed, which is requested by a signal that interrupts
// any code.
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

// Clears all mutexes, while all threads are at home. If `follows` is false, each lock and release commits.
void begin_lock_users(bool follows) noexcept;

}  // namespace hpcrun

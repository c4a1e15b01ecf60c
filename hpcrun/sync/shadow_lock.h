#pragma once
// Where a lock is that was given a cache line of its own (repair/locks), and how the way to it is found. The
// C library's mutexes have two words that it uses for robust ones alone, and its read-write locks some that
// it does not use at all; the one 32 bytes behind the begin of either holds the address. Header only: the
// library in front of the locks follows it, and the runtime where it asks who has a lock.

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Does what the lock did that it stands in for, on a line of its own. A copy of a lock that was moved has the
// address, too, but is not the original: it is a lock of its own that nobody has.
struct alignas(64) ShadowLock {
  union {
    pthread_mutex_t mutex{};
    pthread_rwlock_t read_write;
  };
  std::atomic<const void*> original{};
};
static_assert(sizeof(ShadowLock) == 64);  // a cache line

constexpr size_t kShadowAddress = offsetof(pthread_mutex_t, __data.__list.__next);
static_assert(kShadowAddress == 32 && sizeof(pthread_mutex_t) == 40);
// glibc 2.36: what elided locks of this kind once used, and padding.
static_assert(offsetof(pthread_rwlock_t, __data.__rwelision) == kShadowAddress &&
              offsetof(pthread_rwlock_t, __data.__pad2) == kShadowAddress + sizeof(uintptr_t));

// The word of a lock that holds the address.
using ShadowAddress [[gnu::may_alias]] = uintptr_t;
inline const ShadowAddress* way_from(const void* lock) noexcept {
  return reinterpret_cast<const ShadowAddress*>(static_cast<const char*>(lock) + kShadowAddress);
}
inline ShadowAddress* way_from(void* lock) noexcept {
  return reinterpret_cast<ShadowAddress*>(static_cast<char*>(lock) + kShadowAddress);
}

// The address as it lies in the lock; 0: it was not moved. Anything else may be garbage.
inline uintptr_t shadow_address(const void* lock) noexcept {
  return __atomic_load_n(way_from(lock), __ATOMIC_ACQUIRE);
}

}  // namespace hpcrun

#pragma once
// Defines the shadow of a lock that was moved to a cache line of its own (repair/locks), and how it is found.
// The C library's mutexes have two words that are used for robust ones only, and its read-write locks have
// unused words. In both, the word 32 bytes after the start holds the address. Header only: used by the
// library that interposes on locks, and by the runtime where it determines a lock's holder.

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Replaces a lock, on a line of its own. A copy of a moved lock also has the address, but is not the
// original: it is a lock of its own that no thread holds.
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
// glibc 2.36: formerly used by elided locks of this kind, and padding.
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

// Returns the address stored in the lock; 0: it was not moved. Any other value may be garbage.
inline uintptr_t shadow_address(const void* lock) noexcept {
  return __atomic_load_n(way_from(lock), __ATOMIC_ACQUIRE);
}

}  // namespace hpcrun

#pragma once
// Where a mutex is that was given a cache line of its own (repair/locks), and how the way to it is found. The
// C library's mutexes have two words that it uses for robust ones alone; the second one holds the address.
// Header only: the library in front of the locks follows it, and the runtime where it asks who has a lock.

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Does what the mutex did that it stands in for, on a line of its own. A copy of a mutex that was moved has
// the address, too, but is not the original: it is a mutex of its own that nobody has.
struct alignas(64) ShadowMutex {
  pthread_mutex_t mutex{};
  std::atomic<const pthread_mutex_t*> original{};
};
static_assert(sizeof(ShadowMutex) == 64);  // a cache line

constexpr size_t kShadowAddress = offsetof(pthread_mutex_t, __data.__list.__next);
static_assert(kShadowAddress == 32 && sizeof(pthread_mutex_t) == 40);

// The address as it lies in the mutex; 0: it was not moved. Anything else may be garbage.
inline uintptr_t shadow_address(const pthread_mutex_t* mutex) noexcept {
  return reinterpret_cast<uintptr_t>(__atomic_load_n(&mutex->__data.__list.__next, __ATOMIC_ACQUIRE));
}

}  // namespace hpcrun

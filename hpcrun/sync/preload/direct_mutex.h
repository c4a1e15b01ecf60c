#pragma once
// Locks a free mutex and unlocks one without waiters directly: changes its fields as the C library does,
// without calling it. Thus interposing on locks costs a program next to nothing while nothing is measured
// (tests/bench/lone_cost). Only for mutexes of the default kind, if the C library's layout was found to be
// the one in this file, and no other library interposes on them. All other cases are passed to the C library.
//
// glibc 2.18 and later, nptl/pthread_mutex_lock.c: __lock is 0, 1, or 2 if a thread may be waiting in
// futex(2). __owner is the number of the thread that holds it, and __nusers counts that thread.

#include <pthread.h>
#include <sys/single_threaded.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/sync/preload/call.h"

namespace hpcrun {

// Number of direct calls that the calling thread is in. Handlers may read it (SyncSwitches).
extern thread_local constinit uint32_t direct_calls __attribute__((tls_model("initial-exec")));
ptrdiff_t direct_calls_at() noexcept;

// True if mutexes have the layout described. Not async-signal-safe; must be called as the library is loaded.
bool knows_mutexes() noexcept;

// Returns the calling thread's number from the C library's thread structure, which converted threads keep.
// knows_mutexes() has checked the offset.
inline int number_of_thread() noexcept {
  int number;
  asm("movl %%fs:720, %0" : "=r"(number));
  return number;
}

// Restores the previous count instead of decrementing: calls in quick succession would wait for each other's
// counting, which goes through memory.
class DirectCall {
 public:
  DirectCall() noexcept : before_(direct_calls) {
    direct_calls = before_ + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~DirectCall() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    direct_calls = before_;
  }
  DirectCall(const DirectCall&) = delete;
  DirectCall& operator=(const DirectCall&) = delete;
  bool is_allowed() const noexcept { return sync_switches.detours.load(std::memory_order_relaxed) == 0; }

 private:
  const uint32_t before_;
};

inline bool is_ordinary(const __pthread_mutex_s& mutex) noexcept {
  constexpr int kNeverElided = 512;  // in __kind, if the attributes request the default kind
  return (mutex.__kind & ~kNeverElided) == 0;
}

inline bool change_word(int& word, int from, int to, int order) noexcept {
  return __atomic_compare_exchange_n(&word, &from, to, false, order, __ATOMIC_RELAXED);
}

enum class Taken : uint8_t {
  No,  // nothing was changed: call the C library
  Yes,
  // Memory written by the previous holder may not be common yet. The mutex must be unlocked, and locked again
  // by the detour that began meanwhile.
  Once,
};

// True in a process with one thread. No other thread changes a mutex then, which the C library relies on too.
// No thread waits for one whose waits are to be measured, and no session begins that would need calls to be
// counted.
inline bool is_lone() noexcept {
  return __libc_single_threaded &&
         (sync_switches.detours.load(std::memory_order_relaxed) & ~uint32_t{kFollowed}) == 0;
}

// Lock and unlock a mutex that was not moved, in such a process. Return false if they changed nothing.
inline bool take_alone(pthread_mutex_t* mutex) noexcept {
  __pthread_mutex_s& fields = mutex->__data;
  if (!is_ordinary(fields) || fields.__lock != 0) [[unlikely]]
    return false;
  fields.__lock = 1;
  fields.__owner = number_of_thread();
  ++fields.__nusers;
  return true;
}
inline bool release_alone(pthread_mutex_t* mutex) noexcept {
  __pthread_mutex_s& fields = mutex->__data;
  if (!is_ordinary(fields) || fields.__lock != 1) [[unlikely]]
    return false;
  fields.__owner = 0;
  --fields.__nusers;
  fields.__lock = 0;
  return true;
}

// Lock and unlock the mutex at this very address.
inline Taken take_directly(pthread_mutex_t* mutex) noexcept {
  const DirectCall call;
  if (!call.is_allowed()) [[unlikely]]
    return Taken::No;
  __pthread_mutex_s& fields = mutex->__data;
  if (!is_ordinary(fields) || !change_word(fields.__lock, 0, 1, __ATOMIC_ACQUIRE)) [[unlikely]]
    return Taken::No;
  fields.__owner = number_of_thread();
  ++fields.__nusers;
  return call.is_allowed() ? Taken::Yes : Taken::Once;
}

inline bool release_directly(pthread_mutex_t* mutex) noexcept {
  const DirectCall call;
  if (!call.is_allowed()) [[unlikely]]
    return false;
  __pthread_mutex_s& fields = mutex->__data;
  if (!is_ordinary(fields)) [[unlikely]]
    return false;
  // Not loaded before: a load after the locking instruction waits for it (2 ns per pair).
  const int owner = fields.__owner;
  fields.__owner = 0;
  --fields.__nusers;
  if (change_word(fields.__lock, 1, 0, __ATOMIC_RELEASE)) [[likely]]
    return true;
  fields.__owner = owner;  // a thread has begun to wait
  ++fields.__nusers;
  return false;
}

}  // namespace hpcrun

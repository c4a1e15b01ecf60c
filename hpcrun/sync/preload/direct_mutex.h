#pragma once
// The direct way to take a mutex that is free and to release one for which nobody waits: what the C library
// does with its fields is done here, without a call of it. Standing in front of its locks then costs a
// program next to nothing where nothing is measured (tests/bench/lone_cost). Only for mutexes of the kind
// that programs get where they ask for no other, and only where the C library's were seen to be made as this
// file has it, and nobody else stands in front of them; all else goes on to the C library.
//
// glibc 2.18 and later, nptl/pthread_mutex_lock.c: __lock is 0, 1, or 2 where a thread may sleep in futex(2);
// __owner the number of the thread, and __nusers counts it.

#include <pthread.h>
#include <sys/single_threaded.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/sync/preload/call.h"

namespace hpcrun {

// Of the calling thread: how many calls it is in here, which handlers may ask for (SyncSwitches).
extern thread_local constinit uint32_t direct_calls __attribute__((tls_model("initial-exec")));
ptrdiff_t direct_calls_at() noexcept;

// Whether mutexes are as described. Not async-signal-safe; as the library is loaded.
bool knows_mutexes() noexcept;

// Where the C library has the calling thread's number: in its own struct, which threads that became processes
// keep. knows_mutexes() has looked.
inline int number_of_thread() noexcept {
  int number;
  asm("movl %%fs:720, %0" : "=r"(number));
  return number;
}

// What was before is kept, not counted back: calls that follow each other fast would wait for each other's
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
  constexpr int kNeverElided = 512;  // __kind of one whose attributes say that it is ordinary
  return (mutex.__kind & ~kNeverElided) == 0;
}

inline bool change_word(int& word, int from, int to, int order) noexcept {
  return __atomic_compare_exchange_n(&word, &from, to, false, order, __ATOMIC_RELAXED);
}

enum class Taken : uint8_t {
  No,  // nothing has happened: the C library is to be asked
  Yes,
  // What the thread that had it before wrote may not be in common memory yet: it is to be released, and taken
  // again on the detour that began meanwhile.
  Once,
};

// In a process with one thread nobody else changes a mutex, as the C library has it too; nobody waits for one
// whose waits were to be measured, and no session begins, for which calls would have to be counted.
inline bool is_lone() noexcept {
  return __libc_single_threaded &&
         (sync_switches.detours.load(std::memory_order_relaxed) & ~uint32_t{kFollowed}) == 0;
}

// Of a mutex that was not moved, in such a process. False: nothing has happened.
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

// Of the mutex in this very place.
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
  // Not looked at first: a load behind the instruction that took the lock waits for it (2 ns a pair).
  const int owner = fields.__owner;
  fields.__owner = 0;
  --fields.__nusers;
  if (change_word(fields.__lock, 1, 0, __ATOMIC_RELEASE)) [[likely]]
    return true;
  fields.__owner = owner;  // somebody has begun to wait
  ++fields.__nusers;
  return false;
}

}  // namespace hpcrun

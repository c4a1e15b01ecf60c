#pragma once
// Stands in for the runtime: says at which lines locks are to be moved, and counts what became of them.

#include <pthread.h>

#include <atomic>
#include <memory>
#include <thread>

#include "hpcrun/memory/contended_lines.h"
#include "hpcrun/sync/interface.h"

namespace prof {

// From now on, until its end, locks on the lines that were added are moved. One at a time.
class Repairer {
 public:
  Repairer();
  ~Repairer();
  Repairer(const Repairer&) = delete;
  Repairer& operator=(const Repairer&) = delete;

  // All lines of the memory.
  void add(const volatile void* begin, size_t bytes);
  template <typename Object>
  void add(const Object& object) {
    add(&object, sizeof object);
  }

  static unsigned moved();
  static unsigned declined(hpcrun::LockDeclined reason);

 private:
  const std::unique_ptr<hpcrun::ContendedLines> lines_;
  hpcrun::LockRepair repair_;
};

// Of the library in front of the locks.
hpcrun::SyncSwitches& lock_switches();

// Does the mutex lead to another place? As hpcrun/sync/shadow_lock.h has it.
bool is_moved(const void* mutex);

// What the C library itself has, where nobody stands before it.
struct NativeMutex {
  int (*init)(pthread_mutex_t*, const pthread_mutexattr_t*);
  int (*destroy)(pthread_mutex_t*);
  int (*lock)(pthread_mutex_t*);
  int (*trylock)(pthread_mutex_t*);
  int (*timedlock)(pthread_mutex_t*, const timespec*);
  int (*clocklock)(pthread_mutex_t*, clockid_t, const timespec*);
  int (*unlock)(pthread_mutex_t*);
};
const NativeMutex& native_mutex();
const NativeMutex& our_mutex();

// What threads expect beside the one that checks: Catch2's assertions are for one thread.
class Expectations {
 public:
  void expect(bool is_so) {
    if (!is_so) ++failed_;
  }
  unsigned failed() const { return failed_; }

 private:
  std::atomic<unsigned> failed_{0};
};

// What another thread does, to its end.
template <typename Do>
auto elsewhere(Do does) {
  decltype(does()) result{};
  std::thread([&] { result = does(); }).join();
  return result;
}

// Waits until as many threads of the process sleep in the kernel's futex calls; others go on meanwhile.
void wait_for_sleepers(unsigned threads);

// A mutex of a kind, PTHREAD_MUTEX_... .
pthread_mutex_t make_mutex(int kind);

}  // namespace prof

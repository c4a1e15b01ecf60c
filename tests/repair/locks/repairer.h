#pragma once
// Stands in for the runtime: sets at which lines locks are moved, and counts the results.

#include <pthread.h>

#include <atomic>
#include <memory>
#include <thread>

#include "hpcrun/contention/contended_lines.h"
#include "hpcrun/sync/interface.h"

namespace prof {

// As long as it lives, locks on the lines that were added are moved. One at a time.
class Repairer {
 public:
  Repairer();
  ~Repairer();
  Repairer(const Repairer&) = delete;
  Repairer& operator=(const Repairer&) = delete;

  // Adds all lines of the memory.
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

// The switches of the library that interposes on the lock calls.
hpcrun::SyncSwitches& lock_switches();

// True if the mutex refers to a shadow (hpcrun/sync/shadow_lock.h).
bool is_moved(const void* mutex);

// A mutex of the C library itself, without interposition.
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

// Records what threads other than the checking one expect: Catch2's assertions are for one thread.
class Expectations {
 public:
  void expect(bool is_so) {
    if (!is_so) ++failed_;
  }
  unsigned failed() const { return failed_; }

 private:
  std::atomic<unsigned> failed_{0};
};

// Runs `what` in another thread and waits for its end.
template <typename Do>
auto elsewhere(Do does) {
  decltype(does()) result{};
  std::thread([&] { result = does(); }).join();
  return result;
}

// Waits until `threads` threads of the process sleep in futex calls, while others run.
void wait_for_sleepers(unsigned threads);

// Returns a mutex of a kind, PTHREAD_MUTEX_... .
pthread_mutex_t make_mutex(int kind);

}  // namespace prof

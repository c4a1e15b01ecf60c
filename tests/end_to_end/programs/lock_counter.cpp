// A library of the user's own that intercepts mutex calls. It prints at the end how often mutexes were taken
// and released.

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>

namespace {

std::atomic<unsigned long> taken{0}, released{0};

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

[[gnu::destructor]] void tell() {
  std::fprintf(stderr, "%lu taken, %lu released\n", taken.load(), released.load());
}

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static auto* const function = next<int(pthread_mutex_t*)>("pthread_mutex_lock");
  ++taken;
  return function(mutex);
}

extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  static auto* const function = next<int(pthread_mutex_t*)>("pthread_mutex_unlock");
  ++released;
  return function(mutex);
}

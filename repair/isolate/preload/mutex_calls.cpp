// libprof-isolate.so: interposes on mutexes and conditions. They commit like all calls of sync_calls.cpp,
// except for mutexes that only one thread takes (lock_users.h).

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/single_threaded.h>
#include <threads.h>
#include <time.h>

#include "repair/isolate/controller/lock_users.h"
#include "repair/isolate/preload/committing.h"

using namespace hpcrun;

namespace {

// True if the thread got the mutex. EOWNERDEAD: the previous owner ended with it. thrd_success is 0 as well.
bool has_got(int result) noexcept {
  return result == 0 || result == EOWNERDEAD;
}
static_assert(thrd_success == 0);

template <typename Call>
int locked(const void* mutex, Call call) noexcept {
  const int result = call();
  if (has_got(result)) after_lock(mutex);
  return result;
}

// When the call returns, or is cancelled, the thread has the mutex again, which others had meanwhile.
template <typename Call>
int waited(const void* mutex, Call call) {
  const auto meet_again = [mutex] {
    after_lock(mutex);
    commit_own_pages(Stores::Others);
  };
  commit_own_pages(Stores::Own);
  const int result = unless_cancelled(call, [meet_again] {
    MeetsOthers::leave();
    meet_again();
  });
  meet_again();
  return result;
}

}  // namespace

// A process that never had a second thread has no thread to synchronise with. It continues with a jump; the
// committing code is a separate function.
#define HPCRUN_LOCK(name, parameters, arguments, ...)                            \
  HPCRUN_NEXT_OF(name);                                                          \
  [[gnu::noinline]] static int name##_among_others parameters __VA_ARGS__ {      \
    const MeetsOthers meets;                                                     \
    keep_common(object);                                                         \
    return locked(object, [&]() -> int { return HPCRUN_NEXT(name) arguments; }); \
  }                                                                              \
  HPCRUN_EXPORT int name parameters __VA_ARGS__ {                                \
    if (__libc_single_threaded) return HPCRUN_NEXT(name) arguments;              \
    return name##_among_others arguments;                                        \
  }                                                                              \
  static_assert(true)
#define HPCRUN_UNLOCK(name, parameters, ...)                                \
  HPCRUN_NEXT_OF(name);                                                     \
  [[gnu::noinline]] static int name##_among_others parameters __VA_ARGS__ { \
    const MeetsOthers meets;                                                \
    keep_common(object);                                                    \
    before_unlock(object);                                                  \
    return HPCRUN_NEXT(name)(object);                                       \
  }                                                                         \
  HPCRUN_EXPORT int name parameters __VA_ARGS__ {                           \
    if (__libc_single_threaded) return HPCRUN_NEXT(name)(object);           \
    return name##_among_others(object);                                     \
  }                                                                         \
  static_assert(true)
#define HPCRUN_CONDITION(name, parameters, arguments)                           \
  HPCRUN_NEXT_OF(name);                                                         \
  HPCRUN_EXPORT int name parameters {                                           \
    const MeetsOthers meets;                                                    \
    keep_common(object);                                                        \
    keep_common(mutex);                                                         \
    return waited(mutex, [=]() -> int { return HPCRUN_NEXT(name) arguments; }); \
  }                                                                             \
  static_assert(true)

HPCRUN_LOCK(pthread_mutex_lock, (pthread_mutex_t * object), (object), noexcept);
HPCRUN_LOCK(pthread_mutex_trylock, (pthread_mutex_t * object), (object), noexcept);
HPCRUN_LOCK(pthread_mutex_timedlock, (pthread_mutex_t * object, const timespec* until), (object, until),
            noexcept);
HPCRUN_LOCK(pthread_mutex_clocklock, (pthread_mutex_t * object, clockid_t clock, const timespec* until),
            (object, clock, until), noexcept);
HPCRUN_UNLOCK(pthread_mutex_unlock, (pthread_mutex_t * object), noexcept);
HPCRUN_OTHER_NAME(__pthread_mutex_lock, pthread_mutex_lock, pthread_mutex_t*);
HPCRUN_OTHER_NAME(__pthread_mutex_trylock, pthread_mutex_trylock, pthread_mutex_t*);
HPCRUN_OTHER_NAME(__pthread_mutex_unlock, pthread_mutex_unlock, pthread_mutex_t*);

HPCRUN_LOCK(mtx_lock, (mtx_t * object), (object));
HPCRUN_LOCK(mtx_trylock, (mtx_t * object), (object));
HPCRUN_LOCK(mtx_timedlock, (mtx_t * object, const timespec* until), (object, until));
HPCRUN_UNLOCK(mtx_unlock, (mtx_t * object));

HPCRUN_CONDITION(pthread_cond_wait, (pthread_cond_t * object, pthread_mutex_t* mutex), (object, mutex));
HPCRUN_CONDITION(pthread_cond_timedwait,
                 (pthread_cond_t * object, pthread_mutex_t* mutex, const timespec* until),
                 (object, mutex, until));
HPCRUN_CONDITION(pthread_cond_clockwait,
                 (pthread_cond_t * object, pthread_mutex_t* mutex, clockid_t clock, const timespec* until),
                 (object, mutex, clock, until));
HPCRUN_CONDITION(cnd_wait, (cnd_t * object, mtx_t* mutex), (object, mutex));
HPCRUN_CONDITION(cnd_timedwait, (cnd_t * object, mtx_t* mutex, const timespec* until),
                 (object, mutex, until));
// For the library that interposes before this one: returns the next function.
HPCRUN_EXPORT const void* hpcrun_isolate_behind(const char* name) noexcept {
  return hpcrun::find_next(name);
}

HPCRUN_OBJECT(Others, int, pthread_cond_signal, (pthread_cond_t * object), (object), noexcept);
HPCRUN_OBJECT(Others, int, pthread_cond_broadcast, (pthread_cond_t * object), (object), noexcept);
HPCRUN_OBJECT(Others, int, cnd_signal, (cnd_t * object), (object));
HPCRUN_OBJECT(Others, int, cnd_broadcast, (cnd_t * object), (object));

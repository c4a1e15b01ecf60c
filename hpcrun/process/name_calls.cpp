// Thread names. A name set here is recorded at once, even if no more samples of the thread are taken.
// restriction_calls.cpp handles names that are set by prctl(). Names set by a raw system call are read at
// samples and at the end.

#include <pthread.h>

#include "hpcrun/interpose/next_function.h"
#include "hpcrun/process/threads.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(pthread_setname_np);

HPCRUN_EXPORT int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  const int error = HPCRUN_NEXT(pthread_setname_np)(thread, name);
  if (!error) note_name(thread, name);
  return error;
}

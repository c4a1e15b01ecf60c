// The program names a thread: known at once, also of a thread that no sample comes to any more. Names that
// are set by prctl() are seen in restriction_calls.cpp, those by raw system call with samples and at the end.

#include <pthread.h>

#include "hpcrun/process/next.h"
#include "hpcrun/process/threads.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(pthread_setname_np);

HPCRUN_EXPORT int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  const int error = HPCRUN_NEXT(pthread_setname_np)(thread, name);
  if (!error) note_name(thread, name);
  return error;
}

// The program names a thread: known at once, also of a thread that no sample comes to any more. Names that
// are set by raw system call are seen with samples and at the end.

#include <pthread.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "hpcrun/process/next.h"
#include "hpcrun/process/threads.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(pthread_setname_np);
HPCRUN_NEXT_OF_TYPE(prctl, int(int, unsigned long, unsigned long, unsigned long, unsigned long));

HPCRUN_EXPORT int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  const int error = HPCRUN_NEXT(pthread_setname_np)(thread, name);
  if (!error) note_name(thread, name);
  return error;
}

// All of its arguments are of the size of a pointer; those that were not given are not looked at.
HPCRUN_EXPORT int prctl(int option, ...) noexcept {
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = va_arg(list, unsigned long);
  va_end(list);
  const int result = HPCRUN_NEXT(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
  if (option == PR_SET_NAME && result == 0)
    note_name(pthread_self(), reinterpret_cast<const char*>(arguments[0]));
  return result;
}

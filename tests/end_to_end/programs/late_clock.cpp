// A library to preload: the node's clock is $LATE_CLOCK_S seconds late for callers of the C library.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* out) {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, out));
  const char* const late = getenv("LATE_CLOCK_S");
  if (clock == CLOCK_REALTIME && late) out->tv_sec -= atol(late);
  return result;
}

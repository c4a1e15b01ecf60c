#include "repair/isolate/session/cpu_time.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#include <cassert>
#include <cstring>

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/signal_masks.h"

namespace hpcrun {

namespace {

// clock_getcpuclockid(3): the clocks of processes and threads are negative.
bool is_cpu_clock(long clock) noexcept {
  const auto id = static_cast<clockid_t>(clock);
  constexpr unsigned kOfDescriptor = 3;  // in the lowest three bits: a device's clock
  if (id < 0) return (static_cast<unsigned>(id) & 7) != kOfDescriptor;
  return id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID;
}

bool is_of_runtime(int signal) noexcept {
  return signal > 0 && signal <= 64 && (sample_signal_bit() & signal_bit(signal));
}

bool is_limit(const rlimit& limit) noexcept {
  return limit.rlim_cur != RLIM_INFINITY || limit.rlim_max != RLIM_INFINITY;
}

bool is_interval_timer_armed(int which) noexcept {
  itimerval now{};
  return raw_syscall(SYS_getitimer, which, reinterpret_cast<long>(&now)) == 0 &&
         (now.it_value.tv_sec != 0 || now.it_value.tv_usec != 0);
}

// Parses a line of /proc/self/timers. Sets the number after `name`, or returns false for another line.
bool number_behind(const char* line, const char* name, int& number) noexcept {
  const size_t length = strlen(name);
  if (strncmp(line, name, length) != 0) return false;
  const char* digit = line + length;
  const bool is_negative = *digit == '-';
  if (is_negative) ++digit;
  number = 0;
  for (; *digit >= '0' && *digit <= '9'; ++digit) number = 10 * number + (*digit - '0');
  if (is_negative) number = -number;
  return true;
}

// The lines are "signal: 34/...", later "ClockID: -6" (proc(5)). Not available in kernels without
// CONFIG_CHECKPOINT_RESTORE.
bool has_timer_of_cpu_time() noexcept {
  const long file = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/timers"),
                                O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool found = false;
  int signal = 0;
  char line[64];
  size_t length = 0;
  char text[512];
  long bytes;
  while ((bytes = raw_syscall(SYS_read, file, reinterpret_cast<long>(text), sizeof text)) > 0) {
    for (long at = 0; at < bytes; ++at) {
      if (text[at] != '\n') {
        if (length < sizeof line - 1) line[length++] = text[at];
        continue;
      }
      line[length] = 0;
      length = 0;
      int clock = 0;
      if (!number_behind(line, "signal: ", signal) && number_behind(line, "ClockID: ", clock))
        found |= is_cpu_clock(clock) && !is_of_runtime(signal);
    }
  }
  raw_syscall(SYS_close, file);
  return found;
}

bool is_limited() noexcept {
  rlimit limit{};
  return raw_syscall(SYS_prlimit64, 0, RLIMIT_CPU, 0, reinterpret_cast<long>(&limit)) == 0 && is_limit(limit);
}

// Reads from an address of the program, which may be invalid: the call then fails.
template <typename Value>
bool read_argument(long address, Value& value) noexcept {
  return address && safe_read(static_cast<uint64_t>(address), &value, sizeof value);
}

}  // namespace

bool has_cpu_timers() noexcept {
  assert(!is_converted());
  return is_interval_timer_armed(ITIMER_VIRTUAL) || is_interval_timer_armed(ITIMER_PROF) || is_limited() ||
         has_timer_of_cpu_time();
}

bool starts_cpu_timer(const SystemCall& call) noexcept {
  const long* a = call.arguments;
  switch (call.number) {
    case SYS_setitimer: {
      itimerval wanted;
      return (a[0] == ITIMER_VIRTUAL || a[0] == ITIMER_PROF) && read_argument(a[1], wanted) &&
             (wanted.it_value.tv_sec != 0 || wanted.it_value.tv_usec != 0);
    }
    case SYS_timer_create: {
      if (!is_cpu_clock(a[0])) return false;
      sigevent event;
      return !read_argument(a[1], event) || !is_of_runtime(event.sigev_signo);
    }
    case SYS_clock_nanosleep:
      return is_cpu_clock(a[0]) && a[0] != CLOCK_THREAD_CPUTIME_ID;  // on which no thread can sleep
    case SYS_setrlimit: {
      rlimit limit;
      return a[0] == RLIMIT_CPU && read_argument(a[1], limit) && is_limit(limit);
    }
    case SYS_prlimit64: {
      rlimit limit;
      const bool is_own = a[0] == 0 || a[0] == session.pid;
      return is_own && a[1] == RLIMIT_CPU && read_argument(a[2], limit) && is_limit(limit);
    }
    default:
      return false;
  }
}

}  // namespace hpcrun

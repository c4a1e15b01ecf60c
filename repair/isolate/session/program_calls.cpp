#include "repair/isolate/session/program_calls.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>

#include <algorithm>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/program_actions.h"
#include "repair/isolate/session/session.h"

namespace hpcrun {

namespace {

long make(const SystemCall& call) noexcept {
  const long* a = call.arguments;
  return raw_syscall(call.number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// Makes a call whose effect follows the thread; 0 in the argument is the caller.
long set_for_thread(SystemCall call, int argument) noexcept {
  const long result = make(call);
  long& who = call.arguments[argument];
  const ThreadRecord* record = who ? record_of(static_cast<int>(who)) : this_record();
  if (result < 0 || !record || record->where.load() != Where::Converted || record->process.load() <= 0)
    return result;
  who = record->process.load();
  make(call);
  return result;
}

void add(timeval& time, int64_t ns) noexcept {
  const int64_t sum = time.tv_sec * INT64_C(1'000'000) + time.tv_usec + ns / 1'000;
  time.tv_sec = sum > 0 ? sum / 1'000'000 : 0;
  time.tv_usec = sum > 0 ? sum % 1'000'000 : 0;
}

// Reaped converted threads are counted with the children.
long get_usage(const SystemCall& call) noexcept {
  const long result = make(call);
  if (result < 0) return result;
  auto& usage = *reinterpret_cast<rusage*>(call.arguments[1]);
  switch (static_cast<int>(call.arguments[0])) {
    case RUSAGE_SELF:
      add(usage.ru_utime, static_cast<int64_t>(cpu_ns_of_converted_threads()));
      break;
    case RUSAGE_THREAD:
      add(usage.ru_utime, static_cast<int64_t>(cpu_ns_of_converted_threads_of(*this_record())));
      break;
    case RUSAGE_CHILDREN:
      add(usage.ru_utime, -static_cast<int64_t>(session.past_cpu_ns.load()));
      break;
  }
  return result;
}

// clock_getcpuclockid(3): ~id in the upper bits, 4 for a thread.
long get_clock(const SystemCall& call) noexcept {
  const long result = make(call);
  const auto clock = static_cast<clockid_t>(call.arguments[0]);
  if (result < 0 || (clock >= 0 && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID))
    return result;
  const int id = clock < 0 ? ~(clock >> 3) : 0;
  uint64_t ns = 0;
  if (clock == CLOCK_THREAD_CPUTIME_ID || (clock < 0 && (clock & 4))) {
    const ThreadRecord* record = id ? record_of(id) : this_record();
    if (record) ns = cpu_ns_of_converted_threads_of(*record);
  } else if (!id || id == session.pid) {
    ns = cpu_ns_of_converted_threads();
  }
  auto& time = *reinterpret_cast<timespec*>(call.arguments[1]);
  ns += static_cast<uint64_t>(time.tv_nsec);
  time.tv_sec += static_cast<time_t>(ns / 1'000'000'000);
  time.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  return result;
}

// In the kernel's units for programs, hundredths of a second.
long get_times(const SystemCall& call) noexcept {
  constexpr uint64_t kTickNs = 10'000'000;
  const long result = make(call);
  if (result < 0 || !call.arguments[0]) return result;
  auto& times = *reinterpret_cast<tms*>(call.arguments[0]);
  times.tms_utime += static_cast<clock_t>(cpu_ns_of_converted_threads() / kTickNs);
  auto left = static_cast<clock_t>(session.past_cpu_ns.load() / kTickNs);
  for (clock_t* const of_children : {&times.tms_cutime, &times.tms_cstime}) {
    const clock_t part = std::min(left, *of_children);
    *of_children -= part;
    left -= part;
  }
  return result;
}

}  // namespace

long call_in_program(const SystemCall& call) noexcept {
  const long* a = call.arguments;
  switch (call.number) {
    case SYS_rt_sigaction:
      return change_action(static_cast<int>(a[0]), reinterpret_cast<const void*>(a[1]),
                           reinterpret_cast<void*>(a[2]), static_cast<size_t>(a[3]));
    case SYS_clock_gettime:
      return get_clock(call);
    case SYS_getrusage:
      return get_usage(call);
    case SYS_times:
      return get_times(call);
    case SYS_sched_setaffinity:
    case SYS_sched_setparam:
    case SYS_sched_setscheduler:
    case SYS_sched_setattr:
      return set_for_thread(call, 0);
    case SYS_setpriority:
      return a[0] == PRIO_PROCESS ? set_for_thread(call, 1) : make(call);
    case SYS_prctl:
      // The dispatch belongs to the session as long as it lasts.
      return a[0] == 59 ? -EINVAL : make(call);
    default:
      return make(call);
  }
}

}  // namespace hpcrun

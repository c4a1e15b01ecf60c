#include "prof/trigger.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "hpcrun/sample/perf_event.h"

namespace prof {

namespace {

constexpr uint32_t kProbeRate = 10'000;
constexpr long kSpinNs = 2'000'000;

volatile sig_atomic_t arrived = 0;

void on_trap(int) {
  arrived = 1;
}

void spin() {
  timespec start{};
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - start.tv_sec) * 1'000'000'000 + now.tv_nsec - start.tv_nsec < kSpinNs);
}

[[noreturn]] void probe_sigtrap() {
  signal(SIGTRAP, on_trap);
  sigset_t traps;
  sigemptyset(&traps);
  sigaddset(&traps, SIGTRAP);
  sigprocmask(SIG_BLOCK, &traps, nullptr);

  hpcrun::PerfRequest request;
  request.rate = kProbeRate;
  request.inherit_threads = true;
  int descriptor = hpcrun::open_perf_event(request);
  if (descriptor < 0) {
    request.exclude_kernel = true;
    descriptor = hpcrun::open_perf_event(request);
  }
  if (descriptor < 0) _exit(1);
  hpcrun::enable_perf_event(descriptor);
  spin();
  sigprocmask(SIG_UNBLOCK, &traps, nullptr);
  spin();
  _exit(arrived ? 0 : 1);
}

}  // namespace

hpcrun::Trigger best_trigger() {
  const pid_t child = fork();
  if (child == 0) probe_sigtrap();
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return hpcrun::Trigger::Sigtrap;
  return hpcrun::Trigger::Timer;
}

const char* trigger_name(hpcrun::Trigger trigger) {
  switch (trigger) {
    case hpcrun::Trigger::Sigtrap:
      return "sigtrap";
    case hpcrun::Trigger::Timer:
      return "timer";
    case hpcrun::Trigger::Setsig:
      return "setsig";
  }
  return "";
}

}  // namespace prof

#include "prof/launch/trigger.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "hpcrun/sample/perf_event.h"
#include "prof/base/message.h"

namespace prof {

namespace {

constexpr uint32_t kProbeRate = 20'000;  // hpcrun::kMaxRate
constexpr int64_t kWindowNs = 200'000;
// The cost of a timer signal on a virtual machine (docs/sampling.md), used if nothing was measured.
constexpr double kTypicalCost = 20e-6;

volatile sig_atomic_t arrived = 0;
volatile uint64_t sink = 0;

void on_trap(int) {
  arrived = arrived + 1;
}

int64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Returns the CPU nanoseconds that a fixed amount of work takes now.
int64_t work(uint64_t amount) {
  const int64_t start = thread_cpu_ns();
  for (uint64_t i = 0; i < amount; ++i) sink = sink + i;
  return thread_cpu_ns() - start;
}

// Returns the amount of work that fills a window.
uint64_t calibrate() {
  constexpr uint64_t kFirst = 50'000;
  const int64_t took = std::max<int64_t>(1, work(kFirst));
  return std::max<uint64_t>(1, kFirst * static_cast<uint64_t>(kWindowNs) / static_cast<uint64_t>(took));
}

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

// Returns the extra time that the same work takes because of samples, in alternate turns without and with
// them.
double measure_cost(int descriptor, uint64_t amount, int turns) {
  std::vector<double> costs(static_cast<size_t>(turns));
  for (double& cost : costs) {
    const int64_t without = work(amount);
    const int before = arrived;
    hpcrun::enable_perf_event(descriptor);
    const int64_t with = work(amount);
    hpcrun::disable_perf_event(descriptor);
    const int samples = std::max(1, arrived - before);
    cost = static_cast<double>(with - without) * 1e-9 / samples;
  }
  return std::max(0.0, median(costs));
}

[[noreturn]] void probe_sigtrap(int result_pipe, int turns) {
  signal(SIGTRAP, on_trap);
  hpcrun::PerfRequest request;
  request.rate = kProbeRate;
  request.inherit_threads = true;
  int descriptor = hpcrun::open_perf_event(request);
  if (descriptor < 0) {
    request.exclude_kernel = true;
    descriptor = hpcrun::open_perf_event(request);
  }
  if (descriptor < 0) _exit(1);

  sigset_t traps;
  sigemptyset(&traps);
  sigaddset(&traps, SIGTRAP);
  sigprocmask(SIG_BLOCK, &traps, nullptr);
  hpcrun::enable_perf_event(descriptor);
  const uint64_t amount = calibrate();
  work(amount);  // takes several periods, so the blocked signal is raised
  sigprocmask(SIG_UNBLOCK, &traps, nullptr);
  hpcrun::disable_perf_event(descriptor);

  const double cost = measure_cost(descriptor, amount, turns);
  const bool written = write(result_pipe, &cost, sizeof cost) == sizeof cost;
  _exit(arrived > 0 && written ? 0 : 1);
}

// True if a timer with a signal can be created, as the runtime creates them. The number of pending signals
// per user is limited (ulimit -i).
bool can_make_timer(clockid_t clock) {
  sigevent signal{};
  signal.sigev_notify = SIGEV_SIGNAL;
  signal.sigev_signo = SIGRTMAX;
  timer_t timer{};
  if (timer_create(clock, &signal, &timer) != 0) return false;
  timer_delete(timer);
  return true;
}

bool can_queue_samples() {
  hpcrun::PerfRequest request;
  request.sigtrap = false;
  request.exclude_kernel = true;
  const int descriptor = hpcrun::open_perf_event(request);
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
}

// Returns the trigger if sigtrap is not available.
TriggerProbe probe_others() {
  TriggerProbe probe{hpcrun::Trigger::Timer, kTypicalCost, true, can_make_timer(CLOCK_MONOTONIC)};
  if (can_make_timer(CLOCK_THREAD_CPUTIME_ID)) return probe;
  probe.trigger = hpcrun::Trigger::Setsig;
  probe.has_clock = can_queue_samples();
  return probe;
}

// Opens the machine's first event. The kernel then waits for an RCU grace period, which can take a minute
// (seen on a virtual machine with busy CPUs). This way prof waits instead of the measured process. The
// descriptor stays open as long as prof runs.
void keep_perf_ready() {
  static const int descriptor = [] {
    hpcrun::PerfRequest request;
    request.sigtrap = false;
    request.exclude_kernel = true;
    return hpcrun::open_perf_event(request);
  }();
  static_cast<void>(descriptor);
}

}  // namespace

TriggerProbe probe_trigger(int turns) {
  keep_perf_ready();
  TriggerProbe probe = probe_others();
  int result[2];
  if (pipe2(result, O_CLOEXEC) != 0) return probe;
  const pid_t child = fork();
  if (child == 0) probe_sigtrap(result[1], turns);
  close(result[1]);
  double cost = 0;
  const bool measured = read(result[0], &cost, sizeof cost) == sizeof cost;
  close(result[0]);
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
      measured)
    probe = {hpcrun::Trigger::Sigtrap, cost, true, probe.has_timers};
  return probe;
}

std::optional<hpcrun::Trigger> users_trigger() {
  const char* name = getenv(hpcrun::kEnvTrigger);
  if (!name) return std::nullopt;
  for (const auto trigger : {hpcrun::Trigger::Sigtrap, hpcrun::Trigger::Timer, hpcrun::Trigger::Setsig})
    if (std::strcmp(name, trigger_name(trigger)) == 0) return trigger;
  fail(kOwnFailure, "{}={} is not a valid trigger; use sigtrap, timer or setsig, or unset it",
       hpcrun::kEnvTrigger, name);
}

// Triggers are in order of preference.
hpcrun::Trigger chosen_trigger(std::optional<hpcrun::Trigger> users, const TriggerProbe& probe) {
  return users ? std::max(*users, probe.trigger) : probe.trigger;
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

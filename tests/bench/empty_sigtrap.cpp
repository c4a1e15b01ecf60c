// A library to preload into a benchmark's program: the cheapest possible sampling with perf's sigtrap clock,
// and a handler that only counts. Any cost of a profiler beyond it is the profiler's own.
//   EMPTY_SIGTRAP_HZ     samples per second of CPU time
//   EMPTY_SIGTRAP_COUNT  file that gets the number of samples at exit

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<unsigned long> samples{0};
int event = -1;

void count(int) {
  samples.fetch_add(1, std::memory_order_relaxed);
}

[[gnu::constructor]] void start() {
  const char* rate = std::getenv("EMPTY_SIGTRAP_HZ");
  if (rate == nullptr) return;
  struct sigaction action {};
  action.sa_handler = count;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTRAP, &action, nullptr);

  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = 1'000'000'000ull / std::strtoull(rate, nullptr, 10);
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.inherit_thread = 1;
  attributes.remove_on_exec = 1;
  attributes.sigtrap = 1;
  attributes.exclude_hv = 1;
  event = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (event < 0) {  // kernel time cannot be counted without privilege
    attributes.exclude_kernel = 1;
    event = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  }
  if (event < 0) {
    std::perror("empty_sigtrap: perf_event_open");
    _exit(125);
  }
  ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
}

[[gnu::destructor]] void stop() {
  if (event < 0) return;
  ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
  const char* path = std::getenv("EMPTY_SIGTRAP_COUNT");
  if (path == nullptr) return;
  if (FILE* file = std::fopen(path, "w")) {
    std::fprintf(file, "%lu\n", samples.load());
    std::fclose(file);
  }
}

}  // namespace

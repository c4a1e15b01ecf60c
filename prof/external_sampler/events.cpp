#include "prof/external_sampler/events.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "prof/external_sampler/record.h"

namespace prof {

namespace {

// The memory that the kernel lets an unprivileged user lock per processor (perf_event_mlock_kb, 516), without
// the control page. Root gets more, because copies of stacks are large. Smaller rings are tried if even that
// is refused.
constexpr size_t kMaxPages = 1024;
constexpr size_t kFewestPages = 16;

int open_event(perf_event_attr& attr, int tid, int processor) {
  return static_cast<int>(syscall(SYS_perf_event_open, &attr, tid, processor, -1, PERF_FLAG_FD_CLOEXEC));
}

perf_event_attr describe(const hpcrun::EventSpec& spec, const EventRequest& request) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  if (spec.kind == hpcrun::EventKind::CpuTime) {
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = 1'000'000'000u / spec.rate;
  } else {
    attr.type = spec.perf_type;
    attr.config = spec.perf_config;
    attr.freq = 1;
    attr.sample_freq = spec.rate;
  }
  attr.sample_type = kSampleFields;
  attr.sample_regs_user = kSampleRegisters;
  attr.sample_stack_user = request.stack_bytes;
  attr.exclude_kernel = !request.samples_kernel;
  attr.exclude_hv = 1;
  attr.exclude_callchain_kernel = 1;
  attr.disabled = request.from_exec;
  attr.enable_on_exec = request.from_exec;
  attr.inherit = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  return attr;
}

// Has one of the events report what the processes do.
void add_life_cycle(perf_event_attr& attr) {
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.context_switch = 1;
}

void close_events(const std::vector<OpenEvent>& events) {
  for (const OpenEvent& event : events) close(event.descriptor);
}

std::vector<PerfRing> try_rings(size_t pages, int& error) {
  std::vector<PerfRing> rings;
  const long processors = sysconf(_SC_NPROCESSORS_CONF);
  for (int processor = 0; processor < processors; ++processor) {
    PerfRing ring(processor, pages, error);
    if (error == ENODEV) continue;  // offline
    if (error) return {};
    rings.push_back(std::move(ring));
  }
  error = rings.empty() ? ENODEV : 0;
  return rings;
}

}  // namespace

std::vector<PerfRing> open_rings(int& error) {
  for (size_t pages = kMaxPages; pages >= kFewestPages; pages /= 2) {
    std::vector<PerfRing> rings = try_rings(pages, error);
    if (error != EPERM && error != ENOMEM) return rings;
  }
  return {};
}

bool open_events(int tid, const EventRequest& request, const std::vector<PerfRing>& rings,
                 std::vector<OpenEvent>& opened) {
  std::vector<OpenEvent> events;
  bool tells_life_cycle = false;
  for (uint32_t index = 0; index < request.specs.size(); ++index) {
    if (request.specs[index].kind == hpcrun::EventKind::RealTime) continue;
    perf_event_attr attr = describe(request.specs[index], request);
    if (!tells_life_cycle) add_life_cycle(attr);
    tells_life_cycle = true;
    for (const PerfRing& ring : rings) {
      OpenEvent event{open_event(attr, tid, ring.processor()), 0, index};
      if (event.descriptor >= 0) events.push_back(event);
      if (event.descriptor < 0 ||
          ioctl(event.descriptor, PERF_EVENT_IOC_SET_OUTPUT, ring.descriptor()) != 0 ||
          ioctl(event.descriptor, PERF_EVENT_IOC_ID, &events.back().id) != 0) {
        const int error = errno;
        close_events(events);
        errno = error;
        return false;
      }
    }
  }
  opened.insert(opened.end(), events.begin(), events.end());
  return true;
}

OutsideProbe probe_outside_sampling() {
  OutsideProbe probe;
  const std::vector<PerfRing> rings = open_rings(probe.error);
  if (probe.error) return probe;
  const hpcrun::EventSpec clock;
  EventRequest request;
  request.specs = {&clock, 1};
  request.stack_bytes = 1024;
  std::vector<OpenEvent> events;
  probe.samples_kernel = open_events(0, request, rings, events);
  request.samples_kernel = false;
  if (!probe.samples_kernel && !open_events(0, request, rings, events)) probe.error = errno;
  close_events(events);
  return probe;
}

}  // namespace prof

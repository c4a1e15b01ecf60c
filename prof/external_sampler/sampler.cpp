#include "prof/external_sampler/sampler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>

namespace prof {

namespace {

// Rings wake the reader when they are half full. Anything else is noticed this late at most.
constexpr int kMaxWaitMs = 50;

// Requests and refused connections per round are limited. Otherwise a process that keeps connecting could
// delay the samples or the end of the run.
constexpr int kMaxRequestsInRound = 64;

// Bytes of the stack with each sample. Native code is unwound over them: 24 KiB hold some hundred frames of
// usual size, and a ring of the size that every user may map holds twenty such samples. Go code needs its
// first two frames only.
constexpr uint32_t kNativeStackBytes = 24 * 1024;
constexpr uint32_t kGoStackBytes = 4 * 1024;

// Starts a thread that takes none of the signals for `prof`.
template <typename Function>
std::thread without_signals(Function function) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);  // raised by accesses to truncated files (cut_files.h)
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(function);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

OutsideSampler::OutsideSampler(OutsidePlan plan)
    : specs_(plan.events),
      refusal_(plan.refusal),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      recorder_(std::move(plan)) {
  thread_ = without_signals([this] { serve(); });
}

OutsideSampler::~OutsideSampler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  eventfd_write(wake_, 1);
  thread_.join();
  for (const OpenEvent& event : opened_) close(event.descriptor);
  close(wake_);
}

int OutsideSampler::attach(pid_t pid, const std::string& program) {
  const bool is_go = hpcrun::program_kind(program.c_str()) == hpcrun::ProgramKind::Go;
  const std::lock_guard lock(mutex_);
  recorder_.prepare(program);
  const int error = attach_from(pid, is_go ? hpcrun::kGoFromExec : hpcrun::kStaticFromExec);
  eventfd_write(wake_, 1);
  return error;
}

int OutsideSampler::attach_from(pid_t pid, char what) {
  if (!refusal_.empty()) {
    recorder_.note_unmeasured(pid, fmt::format("Programs without the runtime (static ones, Go) were not "
                                               "measured: they are sampled from outside, and {}.",
                                               refusal_));
    return ENOTSUP;
  }
  const int error = open_for(pid, what);
  if (error)
    recorder_.note_unmeasured(
        pid,
        fmt::format("Programs without the runtime (static ones, Go) were not measured: they are sampled from "
                    "outside, but perf events are refused ({}); `sysctl kernel.perf_event_paranoid=2` allows "
                    "them, in containers a seccomp profile that allows perf_event_open.",
                    std::strerror(error)));
  return error;
}

// Rings are opened with the first events.
int OutsideSampler::open_for(pid_t pid, char what) {
  if (rings_.empty()) {
    const OutsideProbe probe = probe_outside_sampling();
    if (probe.error) return probe.error;
    samples_kernel_ = probe.samples_kernel;
    recorder_.set_samples_kernel(samples_kernel_);
    int error = 0;
    rings_ = open_rings(error);
    if (error) return error;
  }
  EventRequest request;
  request.specs = specs_;
  request.samples_kernel = samples_kernel_;
  request.stack_bytes = what == hpcrun::kStaticFromExec ? kNativeStackBytes : kGoStackBytes;
  request.from_exec = what != hpcrun::kGoFromNow;
  std::vector<OpenEvent> opened;
  if (!open_events(pid, request, rings_, opened)) return errno;
  for (const OpenEvent& event : opened) recorder_.name_event(event.id, event.event);
  opened_.insert(opened_.end(), opened.begin(), opened.end());
  attached_.insert(pid);
  if (!request.from_exec) introduce(pid);
  return 0;
}

// Records are passed on once they are older than the start of the previous round. No earlier record can
// arrive after that.
void OutsideSampler::serve() {
  uint64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  uint64_t round_before = 0;
  std::vector<pollfd> sources;
  for (bool last = false; !last;) {
    poll(sources.data(), sources.size(), sources.size() > 2 ? kMaxWaitMs : sources.empty() ? 0 : -1);
    const std::lock_guard lock(mutex_);
    last = stopping_;
    eventfd_t count;
    eventfd_read(wake_, &count);
    const uint64_t round = clock_ns(CLOCK_MONOTONIC);
    read_rings();
    recorder_.observe_pause();
    answer_requests();
    record_up_to(last ? UINT64_MAX : round_before);
    round_before = round;
    const uint64_t cpu_now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    recorder_.account(cpu_now - cpu_before, ring_bytes());
    cpu_before = cpu_now;

    sources.assign({{wake_, POLLIN, 0}, {socket_.descriptor(), POLLIN, 0}});
    for (const PerfRing& ring : rings_) sources.push_back({ring.descriptor(), POLLIN, 0});
  }
  recorder_.finish(clock_ns(CLOCK_MONOTONIC));
}

void OutsideSampler::answer_requests() {
  OutsideSocket::Request request;
  for (int i = 0; i < kMaxRequestsInRound && socket_.accept(request); ++i) {
    if (!knows(request.pid)) attach_from(request.pid, request.what);
    OutsideSocket::answer(request);
  }
}

// Descendants inherit the events of an ancestor.
bool OutsideSampler::knows(pid_t pid) const {
  return attached_.contains(pid) || recorder_.knows(pid) ||
         std::ranges::any_of(waiting_, [=](const PerfRecord& record) { return record.pid == pid; });
}

// Adds records that the kernel would have written if the events had existed when the process began.
void OutsideSampler::introduce(pid_t pid) {
  PerfRecord record;
  record.pid = pid;
  record.tid = pid;
  record.time_ns = clock_ns(CLOCK_MONOTONIC);
  record.type = PerfRecordType::Exec;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", pid)), record.name);
  waiting_.push_back(record);
  record.type = PerfRecordType::Mapping;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    unsigned long start = 0;
    unsigned long end = 0;
    unsigned long offset = 0;
    char rights[5] = {};
    int path = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %*s %n", &start, &end, rights, &offset, &path) != 4 ||
        rights[2] != 'x' || path == 0)
      continue;
    record.mapping = {start, end - start, offset, line.substr(static_cast<size_t>(path))};
    waiting_.push_back(record);
  }
}

void OutsideSampler::read_rings() {
  for (PerfRing& ring : rings_)
    ring.read([&](std::span<const uint8_t> bytes) {
      if (std::optional<PerfRecord> record = decode(bytes)) waiting_.push_back(std::move(*record));
    });
}

void OutsideSampler::record_up_to(uint64_t time_ns) {
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const PerfRecord& a, const PerfRecord& b) { return a.time_ns < b.time_ns; });
  const auto later = std::upper_bound(waiting_.begin(), waiting_.end(), time_ns,
                                      [](uint64_t time, const PerfRecord& r) { return time < r.time_ns; });
  for (auto at = waiting_.begin(); at != later; ++at) {
    const pid_t pid = at->pid;
    const bool may_end = at->type == PerfRecordType::Exit;
    recorder_.take(std::move(*at));
    if (may_end && !recorder_.knows(pid)) attached_.erase(pid);
  }
  waiting_.erase(waiting_.begin(), later);
}

uint64_t OutsideSampler::ring_bytes() const {
  uint64_t bytes = 0;
  for (const PerfRing& ring : rings_) bytes += ring.bytes();
  return bytes;
}

}  // namespace prof

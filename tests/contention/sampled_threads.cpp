#include "tests/contention/sampled_threads.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <thread>

#include "hpcrun/guest/clock.h"

namespace {

using namespace hpcrun;

constexpr uint64_t kSignalData = 0x7761746368u << 16;
constexpr uint64_t kPeriodNs = 4'000'000;
constexpr size_t kMaxThreads = 8;
constexpr size_t kMaxEvidence = 20'000;

struct Thread {
  WatchedThread watched{};
  std::unique_ptr<PlanCache> plans;
  LoopProgress loop{};
  WatchedBody body{};
  std::atomic<int> tid{0};
};

ContentionWatch* watch;
Thread threads[kMaxThreads];
ThreadEvidence found[kMaxEvidence];
std::atomic<size_t> found_count;
ThreadProgress progressed[kMaxEvidence];
std::atomic<size_t> progress_count;
std::atomic<uint64_t> sample_count;
std::atomic<uint32_t> often_count;
volatile bool stop_all;
thread_local Thread* self __attribute__((tls_model("initial-exec")));

size_t read_own(const void*, uint64_t address, void* to, size_t bytes) noexcept {
  const uint64_t page_end = (address | 4095) + 1;
  const iovec local{to, std::min<size_t>(bytes, page_end - address)};
  const iovec remote{reinterpret_cast<void*>(address), local.iov_len};
  const ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  return got < 0 ? 0 : static_cast<size_t>(got);
}

StoppedAt stopped_at(void* context) {
  StoppedAt at{};
  at.state = machine_state_of(context);
  at.pc = static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  const auto begin = reinterpret_cast<uint64_t>(self->body.run);
  at.begin = begin <= at.pc && at.pc - begin < 1024 ? begin : at.pc;
  at.now_ns = monotonic_ns();
  return at;
}

void on_timer(int, siginfo_t*, void* context) {
  if (!self) return;
  ++sample_count;
  const StoppedAt at = stopped_at(context);
  watch->pass(at.now_ns);
  watch->sample(self->watched, at, kPeriodNs);
}

void on_trap(int, siginfo_t* info, void* context) {
  uint64_t data = 0;
  memcpy(&data, reinterpret_cast<const char*>(info) + 24, sizeof data);  // si_perf_data
  if (self && watch->is_hit(data)) watch->hit(self->watched, stopped_at(context), data);
}

void report(uint32_t thread, const Evidence& evidence) noexcept {
  const size_t number = found_count++;
  if (number < kMaxEvidence) found[number] = {thread, evidence};
}

void report_progress(uint32_t thread, uint64_t line, uint64_t, const Progress& progress) noexcept {
  const size_t number = progress_count++;
  if (number < kMaxEvidence) progressed[number] = {thread, line, progress};
}

void sample_often(bool often) noexcept {
  often_count += often;
}

int tid_of(uint32_t thread) noexcept {
  return thread < kMaxThreads ? threads[thread].tid.load() : 0;
}

class Handlers {
 public:
  Handlers() {
    install(SIGPROF, on_timer, profiling_);
    install(SIGTRAP, on_trap, trap_);
  }
  ~Handlers() {
    sigaction(SIGPROF, &profiling_, nullptr);
    sigaction(SIGTRAP, &trap_, nullptr);
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

 private:
  static void install(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& before) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaddset(&action.sa_mask, SIGPROF);
    sigaddset(&action.sa_mask, SIGTRAP);
    sigaction(signal, &action, &before);
  }

  struct sigaction profiling_ {};
  struct sigaction trap_ {};
};

void run_thread(Thread& thread) {
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* low = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  thread.watched.stack_low = reinterpret_cast<uint64_t>(low);
  thread.watched.stack_high = thread.watched.stack_low + bytes;
  self = &thread;
  thread.tid = static_cast<int>(syscall(SYS_gettid));

  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = thread.tid;
  timer_t timer{};
  timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer);
  const itimerspec period{{0, static_cast<long>(kPeriodNs)}, {0, static_cast<long>(kPeriodNs)}};
  timer_settime(timer, 0, &period, nullptr);
  thread.body.run(thread.body.data, stop_all);
  timer_delete(timer);
  thread.tid = 0;
  self = nullptr;
}

void take_found(WatchedRun& run) {
  run.evidence.assign(found, found + std::min(found_count.load(), kMaxEvidence));
  run.progress.assign(progressed, progressed + std::min(progress_count.load(), kMaxEvidence));
}

}  // namespace

hpcrun::MachineState machine_state_of(const void* ucontext) {
  const greg_t* const registers = static_cast<const ucontext_t*>(ucontext)->uc_mcontext.gregs;
  MachineState state{};
  const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                       REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  for (size_t i = 0; i < std::size(order); ++i) state.general[i] = static_cast<uint64_t>(registers[order[i]]);
  return state;
}

WatchedRun run_watched(const std::vector<WatchedBody>& bodies, double seconds,
                       const std::function<bool(const WatchedRun&)>& is_enough) {
  const Handlers handlers;
  auto engine = std::make_unique<ContentionWatch>();
  watch = engine.get();
  engine->start({tid_of, report, report_progress, {read_own, nullptr}, false, sample_often}, kSignalData);
  found_count = 0;
  progress_count = 0;
  sample_count = 0;
  often_count = 0;
  stop_all = false;
  std::vector<std::thread> running;
  for (size_t i = 0; i < bodies.size(); ++i) {
    threads[i].body = bodies[i];
    threads[i].plans = std::make_unique<PlanCache>();
    threads[i].watched.index = static_cast<uint32_t>(i);
    threads[i].watched.plans = threads[i].plans.get();
    threads[i].loop = {};
    threads[i].watched.loop = &threads[i].loop;
    running.emplace_back(run_thread, std::ref(threads[i]));
  }
  WatchedRun run;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    take_found(run);
    if (is_enough && is_enough(run)) break;
  }
  stop_all = true;
  for (std::thread& thread : running) thread.join();
  engine->stop();
  take_found(run);
  run.failure = engine->failure();
  run.samples = sample_count;
  run.asked_often = often_count;
  return run;
}

// A process that dies while it records loses nothing that it has published. The child counts what it has
// published in memory that it shares with the test.

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <new>
#include <thread>

#include "tests/measurement/scenario.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr unsigned kThreads = 2;

struct Published {
  std::atomic<uint64_t> steps[kThreads];
  std::atomic<uint64_t> notes;
};

class SharedCounts {
 public:
  SharedCounts()
      : counts_(new (::mmap(nullptr, sizeof(Published), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                            -1, 0)) Published{}) {}
  ~SharedCounts() { ::munmap(counts_, sizeof(Published)); }
  SharedCounts(const SharedCounts&) = delete;
  SharedCounts& operator=(const SharedCounts&) = delete;
  Published* operator->() { return counts_; }

 private:
  Published* counts_;
};

enum class Death { Kill, Abort, ExitNow, Exec, Fault };

void die(Death how) {
  switch (how) {
    case Death::Kill:
      for (;;) ::pause();
    case Death::Abort:
      ::signal(SIGABRT, SIG_DFL);
      ::abort();
    case Death::ExitNow:
      ::_exit(0);
    case Death::Exec:
      ::execl("/bin/true", "true", nullptr);
      ::_exit(127);
    case Death::Fault:
      ::signal(SIGSEGV, SIG_DFL);
      ::raise(SIGSEGV);
  }
}

// Records until the process dies: by itself after `limit` steps of its first thread, or when it is killed.
[[noreturn]] void record_until_death(const std::filesystem::path& path, SharedCounts& published,
                                     uint64_t seed, Death how, uint64_t limit) {
  Recorder recorder(path);
  for (unsigned t = 0; t < kThreads; ++t) recorder.add_thread();
  const auto work = [&](unsigned t) {
    Scenario scenario(seed + t);
    for (uint64_t i = 1;; ++i) {
      if (!record(recorder.threads[t], scenario.next())) ::_exit(99);
      published->steps[t].store(i, std::memory_order_release);
      if (i % 64 == 0) {
        recorder.file.write_note("still there");
        published->notes.fetch_add(1, std::memory_order_release);
      }
      if (t == 0 && how != Death::Kill && i == limit) die(how);
    }
  };
  std::thread other(work, 1);
  work(0);
  ::_exit(98);
}

void check_nothing_lost(const std::filesystem::path& path, SharedCounts& published, uint64_t seed) {
  const ProcessMeasurement read = read_measurement(path);
  CHECK(read.process.end_monotonic_ns == 0);
  CHECK(read.notes.size() >= published->notes.load());
  for (unsigned t = 0; t < kThreads; ++t) {
    const uint64_t steps = published->steps[t].load();
    if (steps == 0) continue;
    REQUIRE(read.threads.size() > t);
    const MeasuredThread& thread = read.threads[t];
    const std::vector<TraceSample> trace = whole_trace(thread);
    REQUIRE(trace.size() >= steps);
    REQUIRE(trace.size() <= steps + 1);
    Scenario scenario(seed + t);
    uint64_t wrong = 0;
    uint64_t samples = 0;
    uint64_t value = 0;
    for (uint64_t i = 0; i < steps; ++i) {
      const Scenario::Step step = scenario.next();
      wrong += trace[i].time_ns != quantized(step.time_ns) || (trace[i].node == kTraceGapNode) != step.gap;
      if (step.gap) continue;
      wrong += path_of(thread, trace[i].node) != step.path;
      ++samples;
      value += step.value;
    }
    CHECK(wrong == 0);
    // One more step may have been in progress.
    const Scenario::Step under_way = scenario.next();
    uint64_t read_samples = 0;
    uint64_t read_value = 0;
    for (const MeasuredCell& cell : thread.cells) {
      read_samples += cell.samples;
      read_value += cell.value;
    }
    CHECK((read_samples == samples || read_samples == samples + 1));
    CHECK((read_value == value || read_value == value + under_way.value));
  }
}

void run(Death how, int expected_signal) {
  Random random(static_cast<uint64_t>(how) + 1);
  for (int round = 0; round < 12; ++round) {
    TemporaryDirectory directory;
    SharedCounts published;
    const uint64_t seed = random.next();
    const uint64_t limit = 1 + random.below(round < 4 ? 300 : 20'000);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) record_until_death(directory / "a.prof", published, seed, how, limit);
    if (how == Death::Kill) {
      while (published->steps[0].load(std::memory_order_acquire) < limit) ::sched_yield();
      ::kill(child, SIGKILL);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    if (expected_signal != 0) {
      REQUIRE(WIFSIGNALED(status));
      REQUIRE(WTERMSIG(status) == expected_signal);
    } else {
      REQUIRE(WIFEXITED(status));
      REQUIRE(WEXITSTATUS(status) == 0);
    }
    check_nothing_lost(directory / "a.prof", published, seed);
  }
}

}  // namespace

TEST_CASE("kill -9 loses nothing that was published") {
  run(Death::Kill, SIGKILL);
}
TEST_CASE("abort loses nothing that was published") {
  run(Death::Abort, SIGABRT);
}
TEST_CASE("a crash loses nothing that was published") {
  run(Death::Fault, SIGSEGV);
}
TEST_CASE("_exit loses nothing that was published") {
  run(Death::ExitNow, 0);
}
TEST_CASE("exec loses nothing that was published") {
  run(Death::Exec, 0);
}

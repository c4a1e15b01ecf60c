// Finds out from synthetic clocks if threads run alternately.

#include "hpcrun/contention/parallelism.h"

#include <catch2/catch.hpp>

using namespace hpcrun;

namespace {

constexpr uint64_t kSampleNs = 10'000'000;  // between samples of any thread
constexpr uint64_t kSamplesOfWindow = Parallelism::kWindowNs / kSampleNs;

uint64_t cpu_ns;
uint64_t clock_reads;

uint64_t process_cpu() noexcept {
  ++clock_reads;
  return cpu_ns;
}

using Threads = Parallelism::Threads;

struct Process {
  Parallelism parallelism;
  uint64_t now_ns = 1'000'000'000'000;

  // Advances the clocks by a percentage of wall time in which threads computed, and one in which they were
  // ready. Returns the last answer.
  Threads go_on(uint64_t windows, uint64_t computing, uint64_t ready, bool is_known = true) {
    Threads answer = Threads::Unknown;
    for (uint64_t i = 0; i < windows * kSamplesOfWindow; ++i) {
      now_ns += kSampleNs;
      cpu_ns += kSampleNs * computing / 100;
      answer = parallelism.sampled(now_ns, {is_known, kSampleNs * ready / 100}, process_cpu);
    }
    return answer;
  }
};

}  // namespace

TEST_CASE("threads that compute at the same time are known after a short window, and not asked for more") {
  Process process;
  CHECK(process.parallelism.sampled(process.now_ns, {true, 0}, process_cpu) == Threads::Unknown);
  process.now_ns += Parallelism::kFirstWindowNs;
  cpu_ns += Parallelism::kFirstWindowNs * 19 / 10;
  CHECK(process.parallelism.sampled(process.now_ns, {true, 0}, process_cpu) == Threads::Together);
  for (int window = 0; window < 10; ++window) {
    CHECK(process.go_on(1, 190, 0) == Threads::Together);
    CHECK_FALSE(process.parallelism.asks_for_ready_time());
  }
}

TEST_CASE("that threads take turns is known after one window more, in which they were asked") {
  Process process;
  CHECK(process.go_on(1, 100, 0) == Threads::Unknown);  // only its CPU time is known
  CHECK(process.parallelism.asks_for_ready_time());
  CHECK(process.go_on(1, 100, 0) == Threads::InTurns);
}

TEST_CASE("threads that take turns are known to compute at the same time after two windows") {
  Process process;
  CHECK(process.go_on(5, 100, 0) == Threads::InTurns);
  CHECK(process.go_on(2, 200, 0) == Threads::Together);
  CHECK(process.go_on(1, 200, 0) == Threads::Together);
  CHECK(process.go_on(3, 100, 0) == Threads::InTurns);
}

TEST_CASE("threads that wait for a processor do not take turns") {
  Process process;
  CHECK(process.go_on(10, 60, 140) == Threads::Together);
  CHECK(process.parallelism.asks_for_ready_time());
  CHECK(process.go_on(2, 60, 10) == Threads::InTurns);
  CHECK(process.go_on(2, 100, 100) == Threads::Together);  // half of the time, because of a quota
  CHECK(process.go_on(2, 100, 60) == Threads::InTurns);    // wakes before its turn
}

TEST_CASE("nobody takes turns where it is not known how long threads were ready") {
  Process process;
  CHECK(process.go_on(10, 90, 0, false) == Threads::Together);
  CHECK(process.go_on(2, 90, 0) == Threads::InTurns);
  CHECK(process.go_on(2, 90, 0, false) == Threads::Together);
}

TEST_CASE("a time without samples tells nothing") {
  Process process;
  CHECK(process.go_on(5, 100, 0) == Threads::InTurns);
  process.now_ns += Parallelism::kMaxWindowNs;
  CHECK(process.parallelism.sampled(process.now_ns, {true, 0}, process_cpu) == Threads::Unknown);
  CHECK_FALSE(process.parallelism.asks_for_ready_time());
}

TEST_CASE("the clock of all threads is read once a window") {
  Process process;
  process.go_on(3, 100, 0);
  clock_reads = 0;
  process.go_on(7, 100, 0);
  CHECK(clock_reads == 7);
}

// Two threads that write memory with known sharing, for about SECONDS seconds:
//
//   written_lines order|locked|mixed|apart SECONDS
//
// order   two adjacent counters most of the time, and another two, elsewhere, for the rest
// locked  one total under a lock
// mixed   a total under a lock, and next to it a counter of each thread
// apart   a line for each thread, on one page

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

struct Counter {
  volatile uint64_t value;
};
struct alignas(64) Line {
  volatile uint64_t value;
};
struct Totals {
  volatile uint64_t total;
  volatile uint64_t of_thread[2];
};

}  // namespace

alignas(4096) Counter often[2];
alignas(64) Counter seldom[2];
alignas(4096) Totals totals;
alignas(4096) Line lines[2];
alignas(4096) std::mutex mutex;

namespace {

[[gnu::noinline]] void count(volatile uint64_t& counter) {
  for (int i = 0; i < 10'000; ++i) counter = counter + 1;
}

template <typename Step>
void both(double seconds, Step step) {
  const Clock::time_point begin = Clock::now();
  const auto run = [=](int thread) {
    for (;;) {
      const double at = std::chrono::duration<double>(Clock::now() - begin).count();
      if (at >= seconds) return;
      step(thread, at);
    }
  };
  std::thread other([=] { run(1); });
  run(0);
  other.join();
}

void count_by_time(int thread, double at) {
  constexpr double kRound = 0.4, kSeldom = 0.12;
  count(std::fmod(at, kRound) < kSeldom ? seldom[thread].value : often[thread].value);
}

void add_to_total(int thread, bool counts) {
  for (int i = 0; i < 100; ++i) {
    const std::lock_guard guard(mutex);
    totals.total = totals.total + 1;
    if (counts) totals.of_thread[thread] = totals.of_thread[thread] + 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 1;
  if (!std::strcmp(what, "order"))
    both(seconds, count_by_time);
  else if (!std::strcmp(what, "locked") || !std::strcmp(what, "mixed"))
    both(seconds, [counts = what[0] == 'm'](int thread, double) { add_to_total(thread, counts); });
  else if (!std::strcmp(what, "apart"))
    both(seconds, [](int thread, double) { count(lines[thread].value); });
  else
    return 2;
  const bool adds_up = what[0] != 'm' || totals.total == totals.of_thread[0] + totals.of_thread[1];
  std::printf("%s %s\n", what, adds_up ? "right" : "wrong");
}

// Two threads that count side by side, in plain variables of one page: three quarters of the time in one
// function and one quarter in another, for so many milliseconds of CPU time each. It prints nothing of what
// it counted.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

static volatile uint64_t counted[2];

[[gnu::always_inline]] static inline void count(int number, int turns) {
  for (int i = 0; i < turns; ++i) counted[number] = counted[number] + 1;
}

// Milliseconds: the clock is asked in between, by a system call, which is dear in a thread that is a process.
constexpr int kTurns = 1'000'000;

[[gnu::noinline]] static void three_quarters(int number) {
  count(number, 3 * kTurns);
}
[[gnu::noinline]] static void one_quarter(int number) {
  count(number, kTurns);
}

static double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

[[gnu::noinline]] static void work(int number, double milliseconds) {
  while (cpu_ms() < milliseconds) {
    three_quarters(number);
    one_quarter(number);
  }
}

int main(int argc, char** argv) {
  const double milliseconds = argc > 1 ? atof(argv[1]) : 1500;
  std::thread other(work, 1, milliseconds);
  work(0, milliseconds);
  other.join();
  puts("counted");
}

// Two threads that count in adjacent words, in plain variables of one page: three quarters of the time in one
// function and one quarter in another, for a number of milliseconds of CPU time each. Does not print the
// counts.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>

static volatile uint64_t counted[2];

[[gnu::always_inline]] static inline void count(int number, int turns) {
  for (int i = 0; i < turns; ++i) counted[number] = counted[number] + 1;
}

[[gnu::noinline]] static void three_quarters(int number, int turns) {
  count(number, 3 * turns);
}
[[gnu::noinline]] static void one_quarter(int number, int turns) {
  count(number, turns);
}

static double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

[[gnu::noinline]] static void work(int number, double milliseconds) {
  // The number of milliseconds varies, so that it is not in step with any timer. The clock is read in between
  // by a system call, which is expensive in a converted thread.
  std::minstd_rand random(static_cast<unsigned>(number) + 1);
  while (cpu_ms() < milliseconds) {
    const int turns = 500'000 + static_cast<int>(random() % 1'000'000);
    three_quarters(number, turns);
    one_quarter(number, turns);
  }
}

int main(int argc, char** argv) {
  const double milliseconds = argc > 1 ? atof(argv[1]) : 1500;
  std::thread other(work, 1, milliseconds);
  work(0, milliseconds);
  other.join();
  puts("counted");
}

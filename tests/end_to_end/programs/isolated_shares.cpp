// Two threads that count side by side, in plain variables of one page: three quarters of the time in one
// function and one quarter in another, for so many milliseconds. It prints nothing of what it counted.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

static volatile uint64_t counted[2];

using Clock = std::chrono::steady_clock;

[[gnu::always_inline]] static inline void count(int number, int turns) {
  for (int i = 0; i < turns; ++i) counted[number] = counted[number] + 1;
}

constexpr int kTurns = 50'000;

[[gnu::noinline]] static void three_quarters(int number) {
  count(number, 3 * kTurns);
}
[[gnu::noinline]] static void one_quarter(int number) {
  count(number, kTurns);
}

[[gnu::noinline]] static void work(int number, Clock::time_point until) {
  while (Clock::now() < until) {
    three_quarters(number);
    one_quarter(number);
  }
}

int main(int argc, char** argv) {
  const auto until = Clock::now() + std::chrono::milliseconds(argc > 1 ? atoi(argv[1]) : 1500);
  std::thread other(work, 1, until);
  work(0, until);
  other.join();
  puts("counted");
}

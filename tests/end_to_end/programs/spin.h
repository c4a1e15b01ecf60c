#pragma once
// Work that takes a given amount of CPU time of the calling thread.

#include <time.h>

#include <cstdint>

inline double clock_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

inline double thread_cpu_seconds() {
  return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

// Steps between two reads of the clock: about 0.1 ms, so that the clock's own cost is negligible.
constexpr unsigned kSpinSteps = 50'000;

[[gnu::noinline]] inline uint64_t spin_steps(uint64_t state) {
  for (unsigned i = 0; i < kSpinSteps; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

[[gnu::noinline]] inline uint64_t spin(double cpu_seconds) {
  const double end = thread_cpu_seconds() + cpu_seconds;
  uint64_t state = 1;
  while (thread_cpu_seconds() < end) {
    state = spin_steps(state);
    asm volatile("" : "+r"(state));  // keeps the work if the result is unused
  }
  return state;
}

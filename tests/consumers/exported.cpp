// A short program whose profile contains what exports must preserve: named threads, inlined calls, recursion,
// and waiting.

#include <pthread.h>
#include <time.h>

#include <thread>

#include "tests/end_to_end/programs/spin.h"

static volatile uint64_t result;

static inline uint64_t mix(uint64_t state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^ state << 17;
}

[[gnu::noinline]] static void mix_for(double cpu_seconds) {
  const double end = thread_cpu_seconds() + cpu_seconds;
  uint64_t state = 1;
  while (thread_cpu_seconds() < end)
    for (unsigned i = 0; i < kSpinSteps; ++i) state = mix(state);
  result = state;
}

[[gnu::noinline]] static void descend(int levels) {
  mix_for(0.02);
  if (levels > 0) descend(levels - 1);
  asm volatile("");  // no tail call
}

[[gnu::noinline]] static void nap() {
  const timespec time{0, 100'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

static void work() {
  descend(4);
  nap();
  mix_for(0.1);
}

int main() {
  // A thread starts with the name of its creator.
  pthread_setname_np(pthread_self(), "a \"wörker\";1");
  std::thread worker(work);
  pthread_setname_np(pthread_self(), "main");
  mix_for(0.3);
  worker.join();
}

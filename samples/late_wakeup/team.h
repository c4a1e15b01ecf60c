#pragma once
// Twelve processes that compute in steps and wait in a barrier after each, as the ranks of a parallel program
// do. In every fourth step one of them, a different one each time, first gets input that arrives 10 ms later.

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

constexpr int kProcesses = 12;
constexpr int kInputEvery = 4;  // steps
constexpr uint64_t kInputAfterNs = 10'000'000;
constexpr uint64_t kWorkNs = 1'000'000;  // of CPU time, for each step

inline uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

inline timespec time_of(uint64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000u), static_cast<long>(ns % 1'000'000'000u)};
}

// Returns when the input is available, which is at `ready_ns` on CLOCK_MONOTONIC. Only this function differs
// in the fixed version.
void wait_for_input(uint64_t ready_ns);

struct Shared {
  pthread_barrier_t barrier;
  uint64_t arrived_ns[kProcesses];
  uint64_t lost_ns;  // while all but one waited
};

[[gnu::noinline]] inline void compute() {
  volatile uint64_t sum = 0;
  for (const uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + kWorkNs;
       clock_ns(CLOCK_THREAD_CPUTIME_ID) < until;)
    for (uint64_t i = 0; i < 1000; ++i) sum = sum + i;
}

// Returns how long all others waited for the last one.
inline uint64_t lost_in_step(const Shared& shared) {
  uint64_t last = 0, before = 0;
  for (const uint64_t arrived : shared.arrived_ns) {
    before = std::max(before, std::min(last, arrived));
    last = std::max(last, arrived);
  }
  return last - before;
}

[[gnu::noinline]] inline void step(Shared& shared, int process, int number) {
  const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  compute();
  const bool is_input = number % kInputEvery == kInputEvery - 1;
  if (is_input && number / kInputEvery % kProcesses == process) wait_for_input(begin + kInputAfterNs);
  shared.arrived_ns[process] = clock_ns(CLOCK_MONOTONIC);
  if (pthread_barrier_wait(&shared.barrier) == PTHREAD_BARRIER_SERIAL_THREAD && is_input)
    shared.lost_ns += lost_in_step(shared);
  pthread_barrier_wait(&shared.barrier);  // no process writes its time during the comparison
}

// Starts the team and prints the time that it lost.
inline int run_team(int argc, char** argv) {
  const int steps = argc > 1 ? std::max(1, std::atoi(argv[1])) : 40;
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  Shared& shared = *static_cast<Shared*>(memory);
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared.barrier, &attributes, kProcesses);
  const uint64_t start = clock_ns(CLOCK_MONOTONIC);
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    if (child < 0) return 1;  // the others wait until their group is killed
    if (child > 0) continue;
    for (int number = 0; number < steps; ++number) step(shared, process, number);
    std::exit(0);
  }
  int failed = 0;
  for (int status = 0; wait(&status) > 0;) failed |= status;
  std::printf("%d steps by %d processes\n", steps, kProcesses);
  std::fprintf(stderr, "lost_s %.3f\nwall_s %.3f\n", static_cast<double>(shared.lost_ns) * 1e-9,
               static_cast<double>(clock_ns(CLOCK_MONOTONIC) - start) * 1e-9);
  return failed != 0;
}

#pragma once
// Test support: a measurement of any size, written by the runtime's own code, as of a large program that is
// sampled at 1 kHz. Its modules are the running program and libc, and its frames lie in their code, so that
// attribution finds real symbols.

#include <cstdint>
#include <filesystem>

namespace prof::test {

struct SyntheticRun {
  uint32_t threads = 2;
  uint64_t samples = 10'000;  // per thread
  uint32_t contexts = 1'000;  // calling context tree nodes per thread
  uint64_t seed = 1;
  // For one device. Tasks are spread evenly over the time of the samples. T is the time between two tasks of
  // a queue. On queue q, which executes kernel_q, thread i modulo threads submits the i-th task after i times
  // T. It starts after another eighth of T. It runs for half of T on even queues, and for one and a half
  // times T on odd ones, so that two run at a time. Threads wait in the second eighth of T.
  uint32_t queues = 0;
  uint64_t tasks = 1'000;         // per queue
  uint64_t device_period_ns = 0;  // of queue traces: 0 for all tasks, or sampled with this period
  uint32_t wasted = 0;            // pairs of accesses per thread, and as many totals
  uint64_t accesses_every = 0;    // one of this many samples is an access to shared memory; 0: none
};

// Writes the file, which must not exist. Each sample is worth 1 ms of metric 0, CPUTIME. Throws
// std::runtime_error.
void write_synthetic(const std::filesystem::path& path, const SyntheticRun& run);

}  // namespace prof::test

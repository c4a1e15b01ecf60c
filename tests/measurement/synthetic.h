#pragma once
// Test support: a measurement of any size, written by the runtime's own code, as if a large program had been
// sampled at 1 kHz. Its modules are the running program and libc, its frames lie in their code, so that
// attribution has real symbols to find.

#include <cstdint>
#include <filesystem>

namespace prof::test {

struct SyntheticRun {
  uint32_t threads = 2;
  uint64_t samples = 10'000;  // per thread
  uint32_t contexts = 1'000;  // calling context tree nodes per thread
  uint64_t seed = 1;
  // Of one device. Tasks are spread evenly over the time of the samples: of queue q, which executes kernel_q,
  // the i-th is submitted by thread i modulo threads after i of the time between two tasks of a queue, starts
  // after another eighth of that time and runs for half of it in even queues, in odd ones for one and a half
  // times, so that two run at a time. Threads wait in the second eighth of that time.
  uint32_t queues = 0;
  uint64_t tasks = 1'000;         // per queue
  uint64_t device_period_ns = 0;  // of the traces of queues: 0 for all tasks, or sampled by this period
  uint64_t accesses_every = 0;    // so many samples one finds memory that others use; 0: none does
};

// The file must not exist. Throws std::runtime_error. Each sample is worth 1 ms of metric 0, CPUTIME.
void write_synthetic(const std::filesystem::path& path, const SyntheticRun& run);

}  // namespace prof::test

#pragma once
// What the CUDA samples have in common: a kernel of a given length, host work of a given length, and the
// command line.

#include <cuda_runtime.h>

#include <cstdint>

namespace cuda {

// Ends the program with status 77 where there is no device or driver, and with 1 when a call failed.
void require(cudaError_t status, const char* call);

// The first argument, or the default.
int steps(int argc, char** argv, int default_steps);

uint64_t now_ns();  // CLOCK_MONOTONIC

// Host work without memory or system calls.
void host_work(double milliseconds);

// How many turns of a kernel's loop take a millisecond. Every kernel is this loop, under a name of its own,
// and adds 1 to the first word of its buffer.
double turns_per_millisecond();

inline __device__ void spin(uint32_t* data, uint64_t turns) {
  uint32_t x = data[1];
  for (uint64_t i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u + (x >> 16);
  data[0] += 1;
  data[1] = x;
}

}  // namespace cuda

#pragma once
// Shared by the CUDA samples: kernels of a given duration, host work of a given duration, and the command
// line.

#include <cuda_runtime.h>

#include <cstdint>

namespace cuda {

// Ends the program with status 77 if there is no device or driver, and with 1 if a call failed.
void require(cudaError_t status, const char* call);

// Returns the first argument, or the default.
int steps(int argc, char** argv, int default_steps);

uint64_t now_ns();  // CLOCK_MONOTONIC

// Computes without memory accesses or system calls.
void host_work(double milliseconds);

// Returns how many iterations of a kernel's loop take a millisecond. Every kernel is this loop under a name
// of its own, and adds 1 to the first word of its buffer.
double turns_per_millisecond();

inline __device__ void spin(uint32_t* data, uint64_t turns) {
  uint32_t x = data[1];
  for (uint64_t i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u + (x >> 16);
  data[0] += 1;
  data[1] = x;
}

}  // namespace cuda

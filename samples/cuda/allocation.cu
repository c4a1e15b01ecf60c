// Defect: temporaries are allocated and freed in every time step. Freeing waits for the kernels, and the device is idle
// meanwhile and afterwards. Built with -DFIXED they are allocated once, before the first time step.

#include <cstdio>

#include "device.h"

namespace {

constexpr double kKernel = 3;  // milliseconds
constexpr size_t kTemporaryBytes = 64 << 20;
constexpr int kTemporaries = 3;

__global__ void CalcForces(uint32_t* data, uint64_t turns) {
  cuda::spin(data, turns);
}

struct Temporaries {
  uint32_t* buffers[kTemporaries];
};

__attribute__((noinline)) Temporaries allocate_temporaries() {
  Temporaries made{};
  for (uint32_t*& buffer : made.buffers) cuda::require(cudaMalloc(&buffer, kTemporaryBytes), "cudaMalloc");
  return made;
}

__attribute__((noinline)) void free_temporaries(const Temporaries& temporaries) {
  for (uint32_t* buffer : temporaries.buffers) cuda::require(cudaFree(buffer), "cudaFree");
}

__attribute__((noinline)) void compute(const Temporaries& temporaries, double per_millisecond) {
  for (uint32_t* buffer : temporaries.buffers) {
    cuda::require(cudaMemsetAsync(buffer, 0, 2 * sizeof *buffer), "cudaMemsetAsync");
    CalcForces<<<1, 1>>>(buffer, static_cast<uint64_t>(kKernel / kTemporaries * per_millisecond));
  }
}

__attribute__((noinline)) uint32_t time_step(const Temporaries* kept, double per_millisecond) {
  const Temporaries temporaries = kept ? *kept : allocate_temporaries();
  compute(temporaries, per_millisecond);
  uint32_t launches = 0;
  cuda::require(cudaMemcpy(&launches, temporaries.buffers[0], sizeof launches, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (!kept) free_temporaries(temporaries);
  return launches;
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = cuda::steps(argc, argv, 60);
  const double per_millisecond = cuda::turns_per_millisecond();
#ifdef FIXED
  const Temporaries all = allocate_temporaries();
  const Temporaries* const kept = &all;
#else
  const Temporaries* const kept = nullptr;
#endif
  uint32_t done = 0;
  for (int i = 0; i < steps; ++i) done += time_step(kept, per_millisecond);
  printf("%u of %d steps\n", done, steps);
#ifdef FIXED
  free_temporaries(all);
#endif
}

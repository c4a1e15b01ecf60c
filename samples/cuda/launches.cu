// Launches an empty kernel many times from one calling context, and prints the time per launch on standard error, in
// nanoseconds: the shortest mean of 20 rounds, for comparison with and without a profiler. Waits between the rounds.

#include <algorithm>
#include <cstdio>

#include "device.h"

namespace {

__global__ void Empty() {}

}  // namespace

int main(int argc, char** argv) {
  const int launches = cuda::steps(argc, argv, 1000);
  double best = 1e18;
  for (int turn = 0; turn < 20; ++turn) {
    cuda::require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const uint64_t begin = cuda::now_ns();
    for (int i = 0; i < launches; ++i) Empty<<<1, 1>>>();
    best = std::min(best, static_cast<double>(cuda::now_ns() - begin) / launches);
    cuda::require(cudaGetLastError(), "Empty");
  }
  cuda::require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  fprintf(stderr, "launch_ns %.0f\n", best);
  printf("%d launches\n", 20 * launches);
}

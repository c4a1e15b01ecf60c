#include "device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace cuda {

namespace {

constexpr int kNoDevice = 77;  // tests are skipped

__global__ void Calibrate(uint32_t* data, uint64_t turns) {
  spin(data, turns);
}

volatile uint32_t kept;  // keeps the compiler from removing the work

__attribute__((noinline)) void turn(uint64_t turns) {
  uint32_t x = kept;
  for (uint64_t i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u + (x >> 16);
  kept = x;
}

double host_turns_per_millisecond() {
  constexpr uint64_t kTurns = 1'000'000;
  double best = 0;
  for (int i = 0; i < 9; ++i) {  // the fastest was disturbed least
    const uint64_t begin = now_ns();
    turn(kTurns);
    best = std::max(best, kTurns * 1e6 / static_cast<double>(now_ns() - begin));
  }
  return best;
}

}  // namespace

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s failed: %s\n", call, cudaGetErrorString(status));
  const bool none = status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver;
  exit(none ? kNoDevice : 1);
}

int steps(int argc, char** argv, int default_steps) {
  return argc > 1 ? atoi(argv[1]) : default_steps;
}

uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void host_work(double milliseconds) {
  static const double per_millisecond = host_turns_per_millisecond();
  turn(static_cast<uint64_t>(milliseconds * per_millisecond));
}

double turns_per_millisecond() {
  constexpr uint64_t kTurns = 500'000;
  uint32_t* data = nullptr;
  require(cudaMalloc(&data, 2 * sizeof *data), "cudaMalloc");
  require(cudaMemset(data, 0, 2 * sizeof *data), "cudaMemset");
  double best = 0;
  for (int i = 0; i < 9; ++i) {  // the first loads the kernel and raises the device's clock
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const uint64_t begin = now_ns();
    Calibrate<<<1, 1>>>(data, kTurns);
    require(cudaGetLastError(), "Calibrate");
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    best = std::max(best, kTurns * 1e6 / static_cast<double>(now_ns() - begin));
  }
  require(cudaFree(data), "cudaFree");
  return best;
}

}  // namespace cuda

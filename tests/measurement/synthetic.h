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
};

// The file must not exist. Throws std::runtime_error. Each sample is worth 1 ms of metric 0, CPUTIME.
void write_synthetic(const std::filesystem::path& path, const SyntheticRun& run);

}  // namespace prof::test

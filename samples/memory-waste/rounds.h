#pragma once
// What the samples of wasted stores and loads share.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Returns the number of rounds: the first argument, or a number that takes about a second.
inline uint64_t rounds(int argc, char** argv, uint64_t usual) {
  return argc > 1 ? std::strtoull(argv[1], nullptr, 10) : usual;
}

// One step of a linear congruential generator. Samples compute their input in registers, so that all their
// loads and stores are of their own data.
constexpr uint64_t kFactor = 6364136223846793005u;
constexpr uint64_t kIncrement = 1442695040888963407u;
constexpr uint64_t next_random(uint64_t state) {
  return state * kFactor + kIncrement;
}

inline void print(uint64_t result) {
  std::printf("%llu\n", static_cast<unsigned long long>(result));
}

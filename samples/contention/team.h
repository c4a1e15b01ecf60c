#pragma once
// Runs two threads that start together, so that what they share is shared all the time.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace team {

// Returns how often each thread does its step: the first argument, in millions.
inline uint64_t steps(int argc, char** argv, uint64_t millions) {
  return (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : millions) * 1'000'000;
}

template <typename First, typename Second>
void run(First first, Second second) {
  std::atomic<int> ready{0};
  const auto meet = [&ready] {
    ++ready;
    while (ready < 2) continue;
  };
  std::thread other([&] {
    meet();
    second();
  });
  meet();
  first();
  other.join();
}

// Repeats that: one thread calls prepare() before each round, and finish() after it.
template <typename Prepare, typename First, typename Second, typename Finish>
void rounds(uint64_t count, Prepare prepare, First first, Second second, Finish finish) {
  std::atomic<uint64_t> given{0}, done{0};
  std::thread other([&] {
    for (uint64_t round = 1; round <= count; ++round) {
      while (given < round) continue;
      second();
      done = round;
    }
  });
  for (uint64_t round = 1; round <= count; ++round) {
    prepare();
    given = round;
    first();
    while (done < round) continue;
    finish();
  }
  other.join();
}

}  // namespace team

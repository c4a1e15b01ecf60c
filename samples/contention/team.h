#pragma once
// Two threads that begin together, so that what they share they share all the time.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace team {

// How often each does its step: the first argument, in millions.
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

}  // namespace team

// graded_sharing PRIVATE_STEPS SECONDS [apart]: two threads add to words of the same cache line, or of lines
// far apart, with PRIVATE_STEPS steps of private work between two additions. Prints as JSON how many
// additions a second both made together.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

alignas(64) volatile uint64_t words[64];

namespace {

constexpr size_t kLineWords = 8;
constexpr size_t kApart = 4 * kLineWords;
constexpr uint64_t kStepsBetweenLooks = 1 << 16;  // between reads of the clock

[[gnu::noinline]] uint64_t add_until(volatile uint64_t& word, uint64_t own_steps,
                                     std::chrono::steady_clock::time_point end) {
  uint64_t additions = 0, steps = 0, state = own_steps;
  while (true) {
    word = word + 1;
    ++additions;
    for (uint64_t i = 0; i < own_steps; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      asm volatile("" : "+r"(state));
    }
    steps += own_steps + 1;
    if (steps < kStepsBetweenLooks) continue;
    steps = 0;
    if (std::chrono::steady_clock::now() >= end) return additions;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const uint64_t own_steps = std::strtoull(argv[1], nullptr, 10);
  const bool apart = argc > 3 && std::strcmp(argv[3], "apart") == 0;
  std::atomic<int> ready{0};
  const auto meet = [&ready] {
    ++ready;
    while (ready < 2) continue;
  };
  const std::chrono::duration<double> seconds(std::atof(argv[2]));
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
  uint64_t second = 0;
  std::thread other([&] {
    meet();
    second = add_until(words[apart ? kApart : 1], own_steps, end);
  });
  meet();
  const uint64_t first = add_until(words[0], own_steps, end);
  other.join();
  std::printf("{\"additions_per_s\": %.0f}\n", static_cast<double>(first + second) / seconds.count());
}

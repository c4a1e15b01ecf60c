// Several threads allocate and free, including blocks of other threads.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>
int main() {
  std::vector<std::atomic<char*>> slots(512);
  std::atomic<unsigned long> bytes{0};
  const auto churn = [&](unsigned seed) {
    for (unsigned i = 0; i < 3'000'000; ++i) {
      seed = seed * 1664525 + 1013904223;
      const size_t size = 16 + seed % 2000;
      char* block = static_cast<char*>(std::malloc(size));
      block[0] = block[size - 1] = 1;
      bytes += size;
      std::free(slots[seed >> 16 & 511].exchange(block));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t) threads.emplace_back(churn, t);
  for (std::thread& thread : threads) thread.join();
  for (auto& slot : slots) std::free(slot);
  std::printf("%lu\n", bytes.load());
}

// A program with its own malloc, which never frees anything. Two threads count in adjacent words of a block.

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "tests/end_to_end/programs/own_blocks.h"

namespace {
alignas(64) unsigned char memory[64 << 20];
std::atomic<size_t> used{0};
}  // namespace

extern "C" void* malloc(size_t bytes) {
  const size_t at = used.fetch_add((bytes + 127) / 64 * 64) + 64;  // the size is before it
  return block_at(memory, sizeof memory, at, bytes);
}
extern "C" void free(void*) {}

int main() {
  auto* const pair = static_cast<volatile uint64_t*>(malloc(64));
  const auto count = [=](int own) {
    for (uint64_t i = 0; i < 50'000'000; ++i) pair[own] = pair[own] + 1;
  };
  std::thread other(count, 1);
  count(0);
  other.join();
  std::printf("%llu\n", static_cast<unsigned long long>(pair[0] + pair[1]));
}

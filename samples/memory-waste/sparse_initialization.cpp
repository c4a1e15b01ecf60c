// Dead stores: a table of all registers is cleared for each block of code, which uses few of them
// (loop_regs_scan of GCC 3). Most entries are cleared again before they are read. With FIXED the entries
// that were used are cleared, at the end of the block.

#include "rounds.h"

constexpr uint32_t kRegisters = 2048;
constexpr uint32_t kInstructions = 128;  // of a block
constexpr uint32_t kUnused = 0x7fffffff;

static uint32_t first_use[kRegisters];
static uint32_t used[kInstructions];

// Returns the sum of the positions of the first uses.
[[gnu::noinline]] static uint64_t scan_block(uint64_t& seed) {
#ifndef FIXED
  for (uint32_t& position : first_use) position = kUnused;
#endif
  uint64_t code = seed;
  uint32_t count = 0;
  for (uint32_t position = 0; position < kInstructions; ++position) {
    code = next_random(code);
    const uint32_t reg = static_cast<uint32_t>(code >> 32) % kRegisters;
    if (first_use[reg] != kUnused) continue;
    first_use[reg] = position;
    used[count++] = reg;
  }
  seed = code;
  uint64_t sum = 0;
  for (uint32_t index = 0; index < count; ++index) {
    sum += first_use[used[index]] * (index + 1);
#ifdef FIXED
    first_use[used[index]] = kUnused;
#endif
  }
  return sum;
}

int main(int argc, char** argv) {
  for (uint32_t& position : first_use) position = kUnused;
  uint64_t seed = 1, sum = 0;
  for (uint64_t left = rounds(argc, argv, 3'000'000); left; --left) sum += scan_block(seed);
  print(sum);
}

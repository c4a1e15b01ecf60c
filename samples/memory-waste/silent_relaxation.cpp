// Silent stores: water levels of a landscape are lowered until no cell can drain further (the algorithm of
// Planchon and Darboux). Each sweep stores the level of each cell, changed or not; after the first sweeps few
// change. With FIXED only lower levels are stored.

#include "rounds.h"

constexpr int kWidth = 512;
constexpr int kHeight = 512;
constexpr int kFlooded = 1 << 20;

static int ground[kHeight][kWidth];
static int level[kHeight][kWidth];

static void make_landscape() {
  uint64_t random = 1;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      random = next_random(random);
      ground[y][x] = static_cast<int>(random >> 48);
      const bool at_border = y == 0 || x == 0 || y == kHeight - 1 || x == kWidth - 1;
      level[y][x] = at_border ? ground[y][x] : kFlooded;
    }
  }
}

// std::min would select between addresses, and load again.
static int lower(int one, int other) {
  return one < other ? one : other;
}

[[gnu::noinline]] static void sweep() {
  for (int y = 1; y < kHeight - 1; ++y) {
    for (int x = 1; x < kWidth - 1; ++x) {
      const int drain =
          lower(lower(level[y - 1][x], level[y + 1][x]), lower(level[y][x - 1], level[y][x + 1]));
      const int drained = drain < ground[y][x] ? ground[y][x] : drain;
#ifdef FIXED
      if (drained < level[y][x]) level[y][x] = drained;
#else
      level[y][x] = lower(drained, level[y][x]);
#endif
    }
  }
}

int main(int argc, char** argv) {
  make_landscape();
  for (uint64_t left = rounds(argc, argv, 2'000); left; --left) sweep();
  uint64_t sum = 0;
  for (const auto& row : level) {
    for (const int cell : row) sum += static_cast<uint64_t>(cell);
  }
  print(sum);
}

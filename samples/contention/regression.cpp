// False sharing: two threads sum up points for a regression line, each in its element of an array, after
// Phoenix's linear_regression. The elements are as long as a cache line, but the array starts in the middle
// of one, as malloc's memory does, so neighbours share a line. regression_fixed aligns the array.

#include <vector>

#include "team.h"

struct Point {
  int8_t x, y;
};

#ifdef FIXED
struct alignas(64) Arguments {
#else
struct Arguments {
#endif
  uint64_t thread;
  const Point* points;
  uint64_t count;
  int64_t sx, sy, sxx, syy, sxy;
};
static_assert(sizeof(Arguments) == 64);

constexpr size_t kPoints = 2'000'000;

std::vector<Point> points(kPoints);
std::vector<Arguments*> arguments(3);  // arrays of a round; one is used

[[gnu::noinline]] Arguments* make_arguments() {
  return new Arguments[2]();
}

// Among three consecutive arrays, usually one has neighbours that share a line, wherever the first one
// starts. Returns which.
size_t make_round() {
  for (Arguments*& one : arguments) one = make_arguments();
  const auto line_of = [](const void* at) { return reinterpret_cast<uintptr_t>(at) / 64; };
  size_t chosen = 0;
  while (chosen < 2 && line_of(&arguments[chosen][0].sxy) != line_of(&arguments[chosen][1].sx)) ++chosen;
  return chosen;
}

[[gnu::noinline]] void add_up(Arguments& own) {
  for (uint64_t i = 0; i < own.count; ++i) {
    own.sx += own.points[i].x;
    own.sxx += own.points[i].x * own.points[i].x;
    own.sy += own.points[i].y;
    own.syy += own.points[i].y * own.points[i].y;
    own.sxy += own.points[i].x * own.points[i].y;
    // Keeps the sums up to date in memory.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

int main(int argc, char** argv) {
  const uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 400;
  for (size_t i = 0; i < kPoints; ++i)
    points[i] = {static_cast<int8_t>(i % 100), static_cast<int8_t>(i % 37)};
  constexpr size_t kHalf = kPoints / 2;
  size_t used = 0;
  int64_t sum = 0;
  team::rounds(
      rounds,
      [&] {
        used = make_round();
        for (size_t half = 0; half < 2; ++half) {
          arguments[used][half].thread = half;
          arguments[used][half].points = &points[half * kHalf];
          arguments[used][half].count = kHalf;
        }
      },
      [&] { add_up(arguments[used][0]); }, [&] { add_up(arguments[used][1]); },
      [&] {
        for (Arguments* one : arguments) {
          sum += one[0].sxy + one[1].sxy;
          delete[] one;
        }
      });
  std::printf("%lld\n", static_cast<long long>(sum));
}

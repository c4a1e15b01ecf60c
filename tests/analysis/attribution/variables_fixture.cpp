// Variables of many kinds, each with a record of its address.

#include "tests/analysis/attribution/variables_fixture.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

struct Point {
  double x, y;
};

struct Statistics {
  std::atomic<uint64_t> hits;
  uint32_t misses;
  uint8_t state;  // and padding after it
  Point where[2];
  std::array<uint16_t, 4> sizes;
  union {
    uint32_t word;
    float number;
  } either;
  unsigned low : 4;
  unsigned high : 12;
  static uint64_t all;
};

struct Derived : Point {
  const char* volatile name;
  void (*call)(int);
};

uint64_t Statistics::all;
Statistics stats[4];
int32_t grid[3][5];
volatile uint64_t flag;

namespace net {
Derived derived;
namespace {
std::pair<uint64_t, uint64_t> pair;
}
}  // namespace net

// Offsets and bounds of all widths that debug information uses.
struct Wide {
  uint64_t first[20];
  uint32_t after_160;
  uint8_t many[40000];
  uint16_t after_40000;
};
Wide wide[200];

thread_local int of_a_thread;

static uint64_t& counter() {
  static uint64_t count;
  return count;
}

static uint64_t with_aligned_sum() {
  struct alignas(64) Line {
    uint64_t sum;
  };
  static Line lines[2];
  lines[1].sum += static_cast<uint64_t>(of_a_thread);
  return lines[1].sum;
}

#define TRUTH(variable, path)                                                                        \
  {                                                                                                  \
#variable, #path, const_cast < const void*>(static_cast <const volatile void*>(&variable path)), \
        sizeof(variable path)                                                                        \
  }

extern "C" Truths truths() {
  static Truth all[] = {
      TRUTH(stats, [0].hits),
      TRUTH(stats, [3].misses),
      TRUTH(stats, [1].state),
      TRUTH(stats, [2].where[1].y),
      TRUTH(stats, [2].sizes[3]),
      TRUTH(stats, [1].either.word),
      TRUTH(grid, [2][1]),
      TRUTH(wide, [199].after_160),
      TRUTH(wide, [130].many[39999]),
      TRUTH(wide, [0].after_40000),
      TRUTH(flag, ),
      TRUTH(Statistics::all, ),
      TRUTH(net::derived, .x),
      TRUTH(net::derived, .name),
      TRUTH(net::derived, .call),
      {"net::(anonymous namespace)::pair", ".second", &net::pair.second, 8},
      {"counter()::count", "", &counter(), 8},
  };
  with_aligned_sum();
  return {all, sizeof all / sizeof all[0]};
}

// False sharing: two threads count the colors of halves of an image in counters of their own, after
// Phoenix's histogram. The counters are objects of 3,096 bytes from adjacent allocations. The last counter of
// one lies in a cache line with the start of the next, so contention depends on the image: a light one has
// pixels of the last color, a dark one has none. histogram_fixed gives each object lines of its own.
//
//   histogram [light|dark [ROUNDS]]

#include <cstring>
#include <vector>

#include "team.h"

struct Pixel {
  uint8_t blue, green, red;
};

#ifdef FIXED
struct alignas(64) Tally {
#else
struct Tally {
#endif
  const Pixel* next;
  uint64_t left;
  uint64_t seen;
  uint32_t blue[256], green[256], red[256];
};

constexpr size_t kPixels = 1'000'000;  // of an image

std::vector<Pixel> image(kPixels);
std::vector<Tally*> tallies(3);  // per round; two are used

void draw(bool is_light) {
  uint32_t state = 1;
  for (Pixel& pixel : image) {
    state = state * 1'664'525 + 1'013'904'223;
    const auto level = static_cast<uint8_t>(is_light ? 255 : state >> 26);  // dark: below 64
    pixel = {level, level, level};
  }
}

[[gnu::noinline]] Tally* make_tally() {
  return new Tally();
}

// Every other allocation ends in the line in which the next one starts. Of three consecutive ones two usually
// share a line. Returns the first of the two.
size_t make_tallies() {
  for (Tally*& tally : tallies) tally = make_tally();
  const auto line_of = [](const void* at) { return reinterpret_cast<uintptr_t>(at) / 64; };
  return line_of(&tallies[0]->red[255]) == line_of(&tallies[1]->left) ? 0 : 1;
}

[[gnu::noinline]] void count(Tally& own) {
  while (own.left > 0) {
    const Pixel pixel = *own.next++;
    ++own.blue[pixel.blue];
    ++own.green[pixel.green];
    ++own.red[pixel.red];
    ++own.seen;
    --own.left;
    // Keeps the object up to date in memory at every step.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

int main(int argc, char** argv) {
  const bool is_light = argc < 2 || std::strcmp(argv[1], "dark") != 0;
  const uint64_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 400;
  draw(is_light);
  constexpr size_t kHalf = kPixels / 2;
  uint64_t seen = 0, last = 0;
  size_t first = 0;
  team::rounds(
      rounds,
      [&] {
        first = make_tallies();
        for (size_t half = 0; half < 2; ++half) {
          tallies[first + half]->next = &image[half * kHalf];
          tallies[first + half]->left = kHalf;
        }
      },
      [&] { count(*tallies[first]); }, [&] { count(*tallies[first + 1]); },
      [&] {
        for (Tally* tally : tallies) {
          seen += tally->seen;
          last += tally->red[255];
          delete tally;
        }
      });
  std::printf("%llu %llu\n", static_cast<unsigned long long>(seen), static_cast<unsigned long long>(last));
}

// Two threads count in adjacent words. They and the main thread pass blocks to each other, from before the
// page is isolated until after it, and each grows, shrinks and frees blocks that another one allocated.
// Prints "right", or what was wrong. Arguments: milliseconds, and how often a thread counts between two
// blocks.

#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace {

class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}
  unsigned operator()() { return static_cast<unsigned>(generator_()); }

 private:
  std::minstd_rand generator_;
};

struct Block {
  unsigned char* at = nullptr;
  size_t bytes = 0;
  unsigned char value = 0;
};

constexpr size_t kBlocks = 4000;
constexpr size_t kMinLarge = 128 * 1024;

std::mutex lock;
alignas(4096) volatile uint64_t counters[512];  // of threads; two work
Block blocks[kBlocks];
bool is_wrong = false;

size_t some_size(Random& random) {
  const unsigned kind = random() % 1000;
  if (kind == 0) return kMinLarge + random() % 1'000'000;
  return kind < 50 ? 1'000 + random() % 20'000 : 1 + random() % 300;
}

unsigned char* have(size_t bytes, unsigned how) {
  void* at = nullptr;
  switch (how % 7) {
    case 0:
      at = calloc(1, bytes);
      break;
    case 1:
      if (posix_memalign(&at, 64, bytes)) return nullptr;
      break;
    case 2:
      at = aligned_alloc(32, (bytes + 31) / 32 * 32);
      break;
    case 3:
      at = memalign(128, bytes);
      break;
    case 4:
      at = realloc(nullptr, bytes);
      break;
    case 5:
      at = ::operator new(bytes);
      break;
    default:
      at = malloc(bytes);
  }
  return static_cast<unsigned char*>(at);
}

void fill(Block& block, unsigned char value) {
  block.value = value;
  memset(block.at, value, block.bytes);
}

bool is_right(const Block& block, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    if (block.at[i] != block.value) return false;
  return malloc_usable_size(block.at) >= block.bytes;
}

void renew(Block& block, Random& random) {
  block.bytes = some_size(random);
  block.at = have(block.bytes, random());
  fill(block, static_cast<unsigned char>(random()));
}

void work_on_one(Random& random) {
  const std::lock_guard guard(lock);
  Block& block = blocks[random() % kBlocks];
  is_wrong |= !is_right(block, block.bytes);
  if (random() % 3) {
    free(block.at);
    return renew(block, random);
  }
  const size_t before = block.bytes;
  block.bytes = some_size(random);
  block.at = static_cast<unsigned char*>(realloc(block.at, block.bytes));
  is_wrong |= !is_right(block, before < block.bytes ? before : block.bytes);
  fill(block, static_cast<unsigned char>(random()));
}

[[gnu::noinline]] void count(volatile uint64_t& own) {
  own = own + 1;
}

}  // namespace

int main(int, char** arguments) {
  const int counts = atoi(arguments[2]);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(atoi(arguments[1]));
  const auto is_over = [=] { return std::chrono::steady_clock::now() >= end; };
  Random random(1);
  for (Block& block : blocks) renew(block, random);
  uint64_t steps[2] = {};
  const auto work = [&](unsigned own) {
    Random randoms(own + 2);
    while (!is_over()) {
      for (int step = 0; step < counts; ++step) count(counters[own]);
      steps[own] += static_cast<uint64_t>(counts);
      work_on_one(randoms);
    }
  };
  std::thread one(work, 0), other(work, 1);
  while (!is_over()) {
    usleep(200);
    for (int i = 0; i < 5; ++i) work_on_one(random);
    if (random() % 100 == 0) std::thread([] { free(strdup("of a thread that ends")); }).join();
  }
  one.join();
  other.join();
  malloc_trim(0);
  for (Block& block : blocks) {
    is_wrong |= !is_right(block, block.bytes);
    free(block.at);
  }
  const bool is_counted = counters[0] == steps[0] && counters[1] == steps[1];
  puts(is_wrong ? "a block is wrong" : is_counted ? "right" : "a count is wrong");
}

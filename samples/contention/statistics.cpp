// False sharing: the threads of a key-value store keep statistics in one array that is allocated when the
// store opens. The array is aligned to a cache line, which does not help: several threads' elements lie in
// one line. statistics_fixed gives each thread a line of its own.

#include <new>

#include "team.h"

struct Statistics {
#ifdef FIXED
  alignas(64)
#endif
      uint64_t reads = 0;
  uint64_t hits = 0;
};

class Store {
 public:
  explicit Store(size_t threads);
  void set(uint64_t key, uint64_t value) { slots_[key % kSlots] = value; }

  [[gnu::noinline]] uint64_t get(size_t thread, uint64_t key) {
    const uint64_t value = slots_[key % kSlots];
    volatile Statistics& own = statistics_[thread];
    own.reads = own.reads + 1;
    if (value) own.hits = own.hits + 1;
    return value;
  }
  const Statistics& statistics(size_t thread) const { return statistics_[thread]; }

 private:
  static constexpr size_t kSlots = 1024;

  uint64_t slots_[kSlots] = {};
  Statistics* statistics_;  // one per thread, as long as the program runs
};

// For eight threads, as a server would; the first two work.
Store::Store(size_t threads) : statistics_(new (std::align_val_t(64)) Statistics[threads]) {}

[[gnu::noinline]] uint64_t serve(Store& store, size_t thread, uint64_t steps) {
  uint64_t key = thread, sum = 0;
  while (steps--) sum += store.get(thread, key = key * 6364136223846793005u + 1442695040888963407u);
  return sum;
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 300);
  Store store(8);
  for (uint64_t key = 0; key < 512; ++key) store.set(key * 2, key + 1);
  uint64_t sums[2] = {};
  team::run([&] { sums[0] = serve(store, 0, steps); }, [&] { sums[1] = serve(store, 1, steps); });
  std::printf("%llu %llu\n",
              static_cast<unsigned long long>(store.statistics(0).hits + store.statistics(1).hits),
              static_cast<unsigned long long>(sums[0] + sums[1]));
}

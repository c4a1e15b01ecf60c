// False sharing of locks: a table in parts, each with a lock of its own. Two threads use different parts and
// never wait, but their locks lie in one cache line. lock_array_fixed separates the locks.

#include "team.h"

#ifdef FIXED
struct alignas(64) Lock {
#else
struct Lock {
#endif
  std::atomic_flag taken;
};

struct alignas(64) Part {
  volatile uint64_t entries;
};

constexpr size_t kParts = 8;

alignas(64) Lock locks[kParts];
Part parts[kParts];

[[gnu::noinline]] void insert_first(uint64_t steps) {
  while (steps--) {
    while (locks[0].taken.test_and_set(std::memory_order_acquire)) continue;
    parts[0].entries = parts[0].entries + 1;
    locks[0].taken.clear(std::memory_order_release);
  }
}

[[gnu::noinline]] void insert_second(uint64_t steps) {
  while (steps--) {
    while (locks[1].taken.test_and_set(std::memory_order_acquire)) continue;
    parts[1].entries = parts[1].entries + 1;
    locks[1].taken.clear(std::memory_order_release);
  }
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 25);
  team::run([=] { insert_first(steps); }, [=] { insert_second(steps); });
  std::printf("%llu\n", static_cast<unsigned long long>(parts[0].entries + parts[1].entries));
}

// Looks like contention but is not: two threads use adjacent words, but one after the other; they use the
// same table, but only read it; each increments a counter on its own cache line, adjacent to the other's.

#include "team.h"

struct alignas(64) Line {
  volatile uint64_t count;
};

alignas(64) volatile uint64_t words[8];
alignas(64) uint64_t table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
Line lines[2];

[[gnu::noinline]] void count_in(volatile uint64_t& word, uint64_t steps) {
  while (steps--) word = word + 1;
}

[[gnu::noinline]] uint64_t look_up(uint64_t steps) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < steps; ++i) sum += const_cast<const volatile uint64_t*>(table)[i & 7];
  return sum;
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 300);
  count_in(words[0], steps);
  std::thread([=] { count_in(words[1], steps); }).join();
  uint64_t sums[2] = {};
  team::run([&] { sums[0] = look_up(steps); }, [&] { sums[1] = look_up(steps); });
  team::run([=] { count_in(lines[0].count, steps); }, [=] { count_in(lines[1].count, steps); });
  std::printf("%llu %llu %llu\n", static_cast<unsigned long long>(words[0] + words[1]),
              static_cast<unsigned long long>(sums[0] + sums[1]),
              static_cast<unsigned long long>(lines[0].count + lines[1].count));
}

// False sharing: two threads count in elements of one array, which lie in one cache line. counters_fixed
// gives each element a line of its own.

#include "team.h"

struct Counter {
  std::atomic<uint64_t> hits;
};

#ifdef FIXED
alignas(64) struct { alignas(64) Counter counter; } counters[2];
#define COUNTER(i) counters[i].counter
#else
alignas(64) Counter counters[2];
#define COUNTER(i) counters[i]
#endif

[[gnu::noinline]] void count_first(uint64_t steps) {
  while (steps--) COUNTER(0).hits.fetch_add(1, std::memory_order_relaxed);
}

[[gnu::noinline]] void count_second(uint64_t steps) {
  while (steps--) COUNTER(1).hits.fetch_add(1, std::memory_order_relaxed);
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 30);
  team::run([=] { count_first(steps); }, [=] { count_second(steps); });
  std::printf("%llu\n", static_cast<unsigned long long>(COUNTER(0).hits + COUNTER(1).hits));
}

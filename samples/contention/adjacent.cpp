// False sharing: two threads count hits and misses in adjacent elements of a global array, by plain
// additions. The elements lie in one cache line. adjacent_fixed gives each its own line.

#include "team.h"

#ifdef FIXED
struct alignas(64) Counter {
#else
struct Counter {
#endif
  volatile uint64_t hits, misses;
};

alignas(64) Counter counters[8];  // of threads; two work

[[gnu::noinline]] void count(Counter& own, uint64_t steps) {
  while (steps--) {
    if (steps % 8)
      own.hits = own.hits + 1;
    else
      own.misses = own.misses + 1;
  }
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 300);
  team::run([=] { count(counters[0], steps); }, [=] { count(counters[1], steps); });
  std::printf("%llu %llu\n", static_cast<unsigned long long>(counters[0].hits + counters[1].hits),
              static_cast<unsigned long long>(counters[0].misses + counters[1].misses));
}

// True sharing: two threads add to one total. No layout helps. total_fixed adds up per thread.

#include "team.h"

alignas(64) std::atomic<uint64_t> total;

[[gnu::noinline]] void add(uint64_t steps) {
#ifdef FIXED
  volatile uint64_t own = 0;
  while (steps--) own = own + 1;
  total.fetch_add(own, std::memory_order_relaxed);
#else
  while (steps--) total.fetch_add(1, std::memory_order_relaxed);
#endif
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 60);
  team::run([=] { add(steps); }, [=] { add(steps); });
  std::printf("%llu\n", static_cast<unsigned long long>(total.load()));
}

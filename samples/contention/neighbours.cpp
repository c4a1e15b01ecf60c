// False sharing: two threads count in small objects of their own, allocated one after the other, that lie in
// one cache line. neighbours_fixed gives each object a line of its own.

#include "team.h"

#ifdef FIXED
struct alignas(64) Counter {
#else
struct Counter {
#endif
  volatile uint64_t hits;
};

Counter* first;
Counter* second;

[[gnu::noinline]] Counter* make_counter() {
  return new Counter();
}

[[gnu::noinline]] void count_first(uint64_t steps) {
  while (steps--) first->hits = first->hits + 1;
}

[[gnu::noinline]] void count_second(uint64_t steps) {
  while (steps--) second->hits = second->hits + 1;
}

// Every other allocation starts a line, so two adjacent ones may or may not share one.
void make_neighbours() {
  first = make_counter();
  second = make_counter();
#ifndef FIXED
  while (reinterpret_cast<uintptr_t>(first) / 64 != reinterpret_cast<uintptr_t>(second) / 64) {
    first = second;
    second = make_counter();
  }
#endif
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 1000);
  make_neighbours();
  team::run([=] { count_first(steps); }, [=] { count_second(steps); });
  std::printf("%llu\n", static_cast<unsigned long long>(first->hits + second->hits));
}

// Spends one, three and six tenths of its CPU time on one line each. The last two lines are in one function,
// the last one in a function that is inlined into it.

#include <ctime>

namespace {

[[gnu::always_inline]] inline double clock_s() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

volatile unsigned sink;

// clang-format off
[[gnu::always_inline]] inline void mix(unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) sink = sink * 2654435761u + i;  // LINE inlined
}

[[gnu::noinline]] void uneven(double until) {
  const double begin = clock_s();
  while (clock_s() < begin + 3 * until) { for (unsigned i = 0; i < 200000; ++i) sink = sink * 2654435761u + i; }  // LINE own
  while (clock_s() < begin + 9 * until) { mix(200000); }
}

[[gnu::noinline]] void small(double until) {
  const double begin = clock_s();
  while (clock_s() < begin + until) { for (unsigned i = 0; i < 200000; ++i) sink = sink * 2654435761u + i; }  // LINE small
}
// clang-format on

}  // namespace

int main() {
  constexpr double kTenth = 0.1;
  small(kTenth);
  uneven(kTenth);
}

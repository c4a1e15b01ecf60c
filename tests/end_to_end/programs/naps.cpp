// naps SECONDS: uses SECONDS of CPU time in spin() and sleeps as long in nap(), alternately a tenth at a
// time. Prints how many sleeps were interrupted, and on standard error the time that passed in each.

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "spin.h"

[[gnu::noinline]] static int nap(double seconds) {
  const double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += static_cast<long>(seconds * 1e9);
  until.tv_sec += until.tv_nsec / 1'000'000'000;
  until.tv_nsec %= 1'000'000'000;
  int interrupted = 0;
  while (clock_seconds(CLOCK_MONOTONIC) < end) {
    if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) ++interrupted;
  }
  return interrupted;
}

int main(int, char** argv) {
  const double turn = std::atof(argv[1]) / 10;
  int interrupted = 0;
  double spun = 0;
  double napped = 0;
  for (int i = 0; i < 10; ++i) {
    const double start = clock_seconds(CLOCK_MONOTONIC);
    spin(turn);
    const double between = clock_seconds(CLOCK_MONOTONIC);
    interrupted += nap(turn);
    spun += between - start;
    napped += clock_seconds(CLOCK_MONOTONIC) - between;
  }
  std::printf("interrupted %d\n", interrupted);
  std::fprintf(stderr, "spin_wall %.3f\nnap_wall %.3f\n", spun, napped);
}

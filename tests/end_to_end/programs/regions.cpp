// Spins in three functions one after the other; only the middle one is marked to be measured. Prints the CPU
// time of each. As long as a file exists (argument 2) it continues, one round after the other.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "prof.h"
#include "spin.h"

namespace {

double seconds[3];

}  // namespace

extern "C" {
[[gnu::noinline]] void before_region(double length) {
  spin(length);
  seconds[0] += length;
}
[[gnu::noinline]] void inside_region(double length) {
  spin(length);
  seconds[1] += length;
}
[[gnu::noinline]] void after_region(double length) {
  spin(length);
  seconds[2] += length;
}
}

int main(int count, char** arguments) {
  const double length = count > 1 ? atof(arguments[1]) : 0.3;
  std::puts("ready");
  std::fflush(stdout);
  do {
    before_region(length);
    prof_start();
    prof_start();  // does not nest
    inside_region(length);
    prof_stop();
    after_region(length);
  } while (count > 2 && access(arguments[2], F_OK) == 0);
  std::fprintf(stderr, "before %f\ninside %f\nafter %f\n", seconds[0], seconds[1], seconds[2]);
}

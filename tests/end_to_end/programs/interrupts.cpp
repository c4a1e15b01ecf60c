// Prints "ready", and counts SIGINTs while it works. After the first it works on for half a second of CPU
// time, in which a second one would arrive. The exit status is their number plus 20.

#include <signal.h>

#include <cstdio>

#include "spin.h"

static volatile sig_atomic_t interrupts = 0;

int main() {
  signal(SIGINT, [](int) { interrupts = interrupts + 1; });
  std::printf("ready\n");
  std::fflush(stdout);
  while (interrupts == 0) spin(0.01);
  spin(0.5);
  std::printf("interrupts %d\n", static_cast<int>(interrupts));
  return 20 + interrupts;
}

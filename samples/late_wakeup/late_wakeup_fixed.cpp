// The fixed version: the process is woken when the input arrives.

#include "team.h"

[[gnu::noinline]] void wait_for_input(uint64_t ready_ns) {
  const timespec ready = time_of(ready_ns);
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ready, nullptr);
}

int main(int argc, char** argv) {
  return run_team(argc, argv);
}

// Defect: a process polls for input only every 300 ms and notices it late; eleven others wait at the barrier.

#include "team.h"

constexpr timespec kPollInterval{0, 300'000'000};  // ns

[[gnu::noinline]] void wait_for_input(uint64_t ready_ns) {
  while (clock_ns(CLOCK_MONOTONIC) < ready_ns) clock_nanosleep(CLOCK_MONOTONIC, 0, &kPollInterval, nullptr);
}

int main(int argc, char** argv) {
  return run_team(argc, argv);
}

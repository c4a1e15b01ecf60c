// Defect: the process that waits for input checks only every 300 ms, so it wakes up late; eleven others wait.

#include "team.h"

constexpr timespec kLookEvery{0, 300'000'000};

[[gnu::noinline]] void wait_for_input(uint64_t ready_ns) {
  while (clock_ns(CLOCK_MONOTONIC) < ready_ns) clock_nanosleep(CLOCK_MONOTONIC, 0, &kLookEvery, nullptr);
}

int main(int argc, char** argv) {
  return run_team(argc, argv);
}

// False sharing: one thread computes and polls a stop flag. The flag lies next to a counter that the other
// thread increments. stop_flag_fixed puts the counter on a line of its own.

#include "team.h"

struct Job {
  volatile bool stop;
#ifdef FIXED
  alignas(64)
#endif
      std::atomic<uint64_t> done;
};

alignas(64) Job job;

[[gnu::noinline]] uint64_t compute(uint64_t steps) {
  uint64_t value = 1;
  while (steps-- && !job.stop) value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

[[gnu::noinline]] void note_done(uint64_t steps) {
  while (steps--) job.done.fetch_add(1, std::memory_order_relaxed);
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 150);
  uint64_t value = 0;
  team::run([&] { value = compute(steps * 3); }, [=] { note_done(steps); });
  std::printf("%llu %llu\n", static_cast<unsigned long long>(job.done.load()),
              static_cast<unsigned long long>(value));
}

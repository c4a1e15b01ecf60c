// Does a fixed amount of work at the bottom of deep call paths: deep_calls [FRAMES [ROUNDS [THREADS]]].
// FRAMES counts every frame on the stack during the work, from the thread's start (clone) to the leaf.

#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Frames that exist without any descent: clone, start_thread, run_rounds and work.
constexpr unsigned kFixedFrames = 4;
// About 20 us per round. The descent to 60 frames takes about 1 % of that, so nearly every sample is deep.
constexpr unsigned kStepsPerRound = 12'000;

[[gnu::noinline]] static uint64_t work(uint64_t state) {
  for (unsigned i = 0; i < kStepsPerRound; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

static uint64_t descend(unsigned frames, uint64_t state);

// Three callers with frames of different sizes. The state determines which of them is called, so call paths
// differ near the leaf, as in real programs.
[[gnu::noinline]] static uint64_t small(unsigned frames, uint64_t state) {
  return descend(frames, state) + 1;
}

[[gnu::noinline]] static uint64_t medium(unsigned frames, uint64_t state) {
  volatile uint64_t kept[8] = {state};
  const uint64_t result = descend(frames, state);
  return result ^ kept[0];
}

[[gnu::noinline]] static uint64_t large(unsigned frames, uint64_t state) {
  volatile uint64_t kept[40] = {state, state + 1, state + 2};
  const uint64_t result = descend(frames, state);
  return result + kept[1] * kept[2];
}

// Only the last frames vary, with up to 3^4 different paths. The rest of the stack stays.
constexpr unsigned kVaryingFrames = 4;

[[gnu::always_inline]] inline uint64_t descend(unsigned frames, uint64_t state) {
  if (frames == 0) return work(state);
  const unsigned kind =
      frames <= kVaryingFrames ? static_cast<unsigned>((state >> (8 * frames)) % 3) : frames % 3;
  if (kind == 0) return small(frames - 1, state);
  if (kind == 1) return medium(frames - 1, state);
  return large(frames - 1, state);
}

struct Job {
  unsigned frames;
  uint64_t rounds;
  uint64_t result;
};

static void* run_rounds(void* argument) {
  Job& job = *static_cast<Job*>(argument);
  uint64_t state = job.result;
  for (uint64_t i = 0; i < job.rounds; ++i) {
    state = descend(job.frames, state) | 1;
  }
  job.result = state;
  return nullptr;
}

int main(int argc, char** argv) {
  const auto argument = [&](int index, uint64_t otherwise) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : otherwise;
  };
  const unsigned frames = static_cast<unsigned>(argument(1, 60));
  const uint64_t rounds = argument(2, 120'000);
  const uint64_t threads = argument(3, 2);
  const unsigned descent = frames > kFixedFrames ? frames - kFixedFrames : 0;

  std::vector<Job> jobs;
  for (uint64_t i = 0; i < threads; ++i) jobs.push_back({descent, rounds, i + 1});
  std::vector<pthread_t> handles(threads);
  for (size_t i = 0; i < threads; ++i) {
    if (pthread_create(&handles[i], nullptr, run_rounds, &jobs[i]) != 0) return 1;
  }
  for (const pthread_t handle : handles) pthread_join(handle, nullptr);

  uint64_t sum = 0;
  for (const Job& job : jobs) sum += job.result;
  std::printf("%016llx\n", static_cast<unsigned long long>(sum));
}

// Load imbalance: threads wait at a barrier after each round, and one of them has most of the work. Prints
// the time that threads waited at the barrier, summed over threads and rounds, as timed by the program
// itself. With FIXED all have the same work.

#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int kMembers = 4;
constexpr uint64_t kRound = 30'000'000;  // steps of work in a round, for all threads together

static pthread_barrier_t round_end;
static double waited[kMembers * 8];  // elements used are one cache line apart
static uint64_t results[kMembers * 8];

[[gnu::noinline]] static uint64_t compute(uint64_t x, uint64_t steps) {
  for (uint64_t i = 0; i < steps; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

static uint64_t share_of(int member) {
#ifdef FIXED
  (void)member;
  return kRound / kMembers;
#else
  return member == 0 ? kRound / 100 * 94 : kRound / 100 * 2;
#endif
}

[[gnu::noinline]] static void meet(int member) {
  const auto begin = std::chrono::steady_clock::now();
  pthread_barrier_wait(&round_end);
  waited[member * 8] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

static void take_part(int member, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    results[member * 8] = compute(results[member * 8], share_of(member));
    meet(member);
  }
}

// The argument: the number of rounds.
int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 25;
  pthread_barrier_init(&round_end, nullptr, kMembers);
  std::vector<std::thread> others;
  for (int member = 1; member < kMembers; ++member) others.emplace_back(take_part, member, rounds);
  take_part(0, rounds);
  for (std::thread& other : others) other.join();
  double all = 0;
  for (int member = 0; member < kMembers; ++member) all += waited[member * 8];
  std::printf("waited %.6f s\n", all);
  return 0;
}

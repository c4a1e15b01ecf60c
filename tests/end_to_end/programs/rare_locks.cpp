// rare_locks MILLISECONDS BETWEEN: two threads that share a line falsely, and take a lock of their own at
// intervals of a number of milliseconds. It is taken by an atomic instruction and released by a plain store.
// The data that it guards is on the page of the line. Prints how often they had the lock, how much of the
// data is lost, and how often the data was inconsistent.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPage = 4096;

struct alignas(kPage) {
  volatile uint64_t hot[2];
  alignas(64) uint64_t first;
  alignas(64) uint64_t second;
} shared;

alignas(kPage) std::atomic<bool> is_locked;
alignas(kPage) uint64_t had[2];
alignas(kPage) uint64_t torn[2];

void work(int self) {
  for (int i = 0; i < 3'000; ++i) shared.hot[self] = shared.hot[self] + 1;
}

void add_one(int self) {
  while (is_locked.exchange(true, std::memory_order_acquire)) work(self);
  torn[self] += shared.first != shared.second;
  ++shared.first;
  for (int i = 0; i < 10; ++i) work(self);
  ++shared.second;
  is_locked.store(false, std::memory_order_release);
  ++had[self];
}

void run(int self, Clock::time_point end, Clock::duration between) {
  for (auto next = Clock::now() + between / 2 * (1 + self); Clock::now() < end; work(self)) {
    if (Clock::now() < next) continue;
    add_one(self);
    next += between;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto end = Clock::now() + std::chrono::milliseconds(atoi(argv[1]));
  const std::chrono::milliseconds between(atoi(argv[2]));
  std::thread other(run, 1, end, between);
  run(0, end, between);
  other.join();
  const uint64_t all = had[0] + had[1];
  printf("had %llu times, %lld lost, %llu torn\n", static_cast<unsigned long long>(all),
         static_cast<long long>(all - shared.first), static_cast<unsigned long long>(torn[0] + torn[1]));
}

// Threads that count next to each other, all together, and pass numbers to each other, all on one page.
// Prints the results, which are always the same. The argument is the number of turns.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

constexpr int kThreads = 2;
constexpr long kPhase = 100'000;  // turns between two hand-overs

struct alignas(4096) Page {
  long counters[kThreads] = {};  // on one line
  long handed[kThreads] = {};
  std::atomic<long> all{0};
  std::atomic<long> turn[kThreads] = {};
  std::atomic_flag lock;
  long guarded = 0;
};
Page page;

void work(int self, long turns) {
  for (long turn = 1; turn <= turns; ++turn) {
    __asm__("" : : "r"(turn));  // keeps the compiler from adding all at once
    page.counters[self] = page.counters[self] + turn % 3;
    if (turn % 1'000 == 0) page.all.fetch_add(1, std::memory_order_relaxed);
    if (turn % kPhase) continue;
    // A plain number is passed. A thread that arrives first waits.
    page.handed[self] = turn;
    page.turn[self].store(turn, std::memory_order_release);
    while (page.turn[1 - self].load(std::memory_order_acquire) < turn) std::this_thread::yield();
    if (page.handed[1 - self] < turn) std::abort();
    while (page.lock.test_and_set(std::memory_order_acquire)) continue;
    page.guarded = page.guarded + 1;
    page.lock.clear(std::memory_order_release);
  }
}

}  // namespace

int main(int, char** arguments) {
  const long turns = std::atol(arguments[1]);
  std::thread other(work, 1, turns);
  work(0, turns);
  other.join();
  std::printf("%ld %ld %ld %ld\n", page.counters[0], page.counters[1], page.all.load(), page.guarded);
  return 0;
}

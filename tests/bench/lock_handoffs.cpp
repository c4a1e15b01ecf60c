// Prints as JSON how many ns handing over a mutex takes. Two threads request it all the time, and each
// releases it when the other one waits in the kernel.

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

constexpr int kHasWaiters = 2;  // glibc's value of a mutex for which a thread sleeps

// Time from a thread's announcement that it sleeps until it does; part of each handoff.
constexpr std::chrono::microseconds kFallingAsleep{20};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<bool> is_over{false};
std::atomic<int> last{-1};  // thread that had it

bool is_waited_for() {
  return __atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) == kHasWaiters;
}

// The thread that released it lets the other one take it, although a mutex goes to the first thread that
// requests it.
void take_turns(int self, long turns) {
  const auto until = [](auto condition) {
    while (!condition() && !is_over.load(std::memory_order_relaxed)) continue;
  };
  for (long i = 0; i < turns; ++i) {
    pthread_mutex_lock(&mutex);
    last.store(self, std::memory_order_relaxed);
    until(is_waited_for);
    const auto asleep = std::chrono::steady_clock::now() + kFallingAsleep;
    until([=] { return std::chrono::steady_clock::now() >= asleep; });
    pthread_mutex_unlock(&mutex);
    until([=] { return last.load(std::memory_order_relaxed) != self; });
  }
  is_over.store(true, std::memory_order_relaxed);
}

}  // namespace

int main(int argc, char** argv) {
  const long turns = argc > 1 ? std::atol(argv[1]) : 20'000;
  const auto begin = std::chrono::steady_clock::now();
  std::thread other(take_turns, 1, turns);
  take_turns(0, turns);
  other.join();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  std::printf("{\"mutex\": %.1f}\n", took.count() / (2 * static_cast<double>(turns)));
}

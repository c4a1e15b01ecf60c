// Prints as JSON how many ns a turn with a lock takes that two threads want all the time, and how often the
// lock went from one to the other, by kind of lock.

#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

constexpr int kSteps = 300;  // of work with the lock: some 300 ns

struct Turns {
  double nanoseconds;
  double handoffs;  // per turn
};

uint64_t work(uint64_t x) {
  for (int i = 0; i < kSteps; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

template <typename Take, typename Release>
Turns measure(long turns, Take take, Release release) {
  uint64_t result = 1;
  int last = -1;
  long handoffs = 0;
  const auto take_turns = [&](int self) {
    for (long i = 0; i < turns; ++i) {
      take();
      handoffs += last != self;
      last = self;
      result = work(result);
      release();
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  std::thread other(take_turns, 1);
  take_turns(0);
  other.join();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  const double all = 2 * static_cast<double>(turns) + (result == 0 ? 1 : 0);
  return {took.count() / all, static_cast<double>(handoffs) / all};
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

}  // namespace

int main(int argc, char** argv) {
  const long turns = argc > 1 ? std::atol(argv[1]) : 200'000;
  const Turns of_mutex = measure(
      turns, [] { pthread_mutex_lock(&mutex); }, [] { pthread_mutex_unlock(&mutex); });
  const Turns of_write = measure(
      turns, [] { pthread_rwlock_wrlock(&rwlock); }, [] { pthread_rwlock_unlock(&rwlock); });
  std::printf("{\"mutex\": [%.1f, %.4f], \"rwlock, write\": [%.1f, %.4f]}\n", of_mutex.nanoseconds,
              of_mutex.handoffs, of_write.nanoseconds, of_write.handoffs);
}

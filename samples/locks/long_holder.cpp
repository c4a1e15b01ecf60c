// Contended lock: most threads hold it briefly, one holds it long. Prints how long they waited, as timed by
// the program itself. With FIXED the long work is done outside the lock.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

std::mutex queue_lock;
static uint64_t queued = 0;
static uint64_t flushed = 0;

static double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

[[gnu::noinline]] static uint64_t work(double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  uint64_t done = 0;
  while (seconds_since(begin) < seconds) ++done;
  return done;
}

// Returns how long it waited for the lock.
[[gnu::noinline]] static double push() {
  const auto begin = std::chrono::steady_clock::now();
  queue_lock.lock();
  const double waited = seconds_since(begin);
  ++queued;
  queue_lock.unlock();
  return waited;
}

[[gnu::noinline]] static double flush() {
#ifdef FIXED
  work(0.01);
#endif
  const auto begin = std::chrono::steady_clock::now();
  queue_lock.lock();
  const double waited = seconds_since(begin);
  flushed = queued;
#ifndef FIXED
  work(0.01);
#endif
  queue_lock.unlock();
  return waited;
}

// The first argument: how often the long holder takes the lock.
int main(int argc, char** argv) {
  const int flushes = argc > 1 ? std::atoi(argv[1]) : 50;
  double waited[3] = {};
  bool done = false;
  std::vector<std::thread> producers;
  for (int i = 0; i < 2; ++i) {
    producers.emplace_back([&waited, &done, i] {
      while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
        waited[i] += push();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
  }
  for (int i = 0; i < flushes; ++i) {
    waited[2] += flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  __atomic_store_n(&done, true, __ATOMIC_RELAXED);
  for (std::thread& producer : producers) producer.join();
  std::printf("waited %.6f s\n", waited[0] + waited[1] + waited[2]);
  return flushed <= queued ? 0 : 1;
}

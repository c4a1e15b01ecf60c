// Objects that share cache lines with their neighbours, each under a mutex of its own that lies elsewhere. A
// thread works for a while on one, under the mutex or waiting at a condition of it, and then on another one,
// on which other threads may have worked: wandering_locks STEPS. No call in between synchronizes threads.
// Prints the result.

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 3;
constexpr int kObjects = 150;

struct Object {
  uint64_t additions;
  uint64_t others;  // all bits of the first one inverted, whenever the mutex is free
};
struct Lock {
  std::mutex mutex;
  std::condition_variable changed;
};

struct alignas(4096) Page {
  uint64_t steps_of[kThreads];  // adjacent, which is the false sharing to be found
  Object objects[kObjects];
};
static_assert(sizeof(Page) == 4096);
Page page;
alignas(4096) Lock locks[kObjects];
uint64_t torn[kThreads];

// Not inlined, so that each access reads or writes memory. With volatile, an annotated program would keep the
// memory common.
[[gnu::noinline]] void work_on(Object& object, int thread) {
  if (object.others != ~object.additions) ++torn[thread];
  ++object.additions;
  object.others = ~object.additions;
}

[[gnu::noinline]] void count(uint64_t& steps) {
  ++steps;
}

void work(int thread, uint64_t steps) {
  std::mt19937 random(static_cast<unsigned>(thread) + 1);
  while (steps > 0) {
    const size_t number = random() % kObjects;
    Object& object = page.objects[number];
    Lock& lock = locks[number];
    for (uint64_t times = 1 + random() % 20'000; times > 0 && steps > 0; --times, --steps) {
      for (int i = 0; i < 50; ++i) count(page.steps_of[thread]);
      if (times % 5'000 == 1) {
        std::unique_lock held(lock.mutex);
        work_on(object, thread);
        lock.changed.wait_for(held, std::chrono::microseconds(50));
        work_on(object, thread);
        lock.changed.notify_all();
      } else if (std::unique_lock held(lock.mutex, std::defer_lock);
                 times % 3 ? held.try_lock() : (held.lock(), true)) {
        work_on(object, thread);
        work_on(object, thread);
      } else {
        ++steps;
        ++times;
      }
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const uint64_t steps = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000;
  for (Object& object : page.objects) object.others = ~uint64_t{0};
  std::vector<std::thread> team;
  for (int thread = 0; thread < kThreads; ++thread) team.emplace_back(work, thread, steps);
  for (std::thread& thread : team) thread.join();
  uint64_t sum = 0, halves = 0;
  for (const Object& object : page.objects) sum += object.additions;
  for (const uint64_t of_thread : torn) halves += of_thread;
  std::printf("%llu of %llu additions, %llu torn\n", static_cast<unsigned long long>(sum),
              static_cast<unsigned long long>(2 * kThreads * steps), static_cast<unsigned long long>(halves));
  return sum == 2 * kThreads * steps && halves == 0 ? 0 : 1;
}

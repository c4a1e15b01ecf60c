// A pool of workers keeps what each has done in an array on the heap, whose elements are shorter than a cache
// line: those of several threads lie in one. workers_fixed gives each worker a line of its own.

#include <vector>

#include "team.h"

#ifdef FIXED
struct alignas(64) Worker {
#else
struct Worker {
#endif
  std::atomic<uint64_t> tasks{0};
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> last{0};
};

// As a server has it, for eight threads; the first two work.
[[gnu::noinline]] std::vector<Worker> make_pool() {
  return std::vector<Worker>(8);
}

[[gnu::noinline]] void work(Worker& own, uint64_t steps) {
  while (steps--) {
    own.tasks.fetch_add(1, std::memory_order_relaxed);
    own.bytes.fetch_add(steps % 1500, std::memory_order_relaxed);
    own.last.store(steps, std::memory_order_relaxed);
  }
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 20);
  std::vector<Worker> pool = make_pool();
  // The second begins 24 bytes behind the first: at whatever multiple of 16 the allocator places
  // the array, both lie on one line.
  team::run([&] { work(pool[0], steps); }, [&] { work(pool[1], steps); });
  std::printf("%llu\n", static_cast<unsigned long long>(pool[0].tasks + pool[1].tasks));
}

// False sharing: a pool keeps each worker's progress in a heap array, with elements shorter than a cache
// line, so that several share a line. workers_fixed gives each worker a line of its own.

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

// For eight threads, as a server would; the first two work.
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
  // The second starts 24 bytes after the first. At whatever multiple of 16 the allocator places the array,
  // both lie on one line.
  team::run([&] { work(pool[0], steps); }, [&] { work(pool[1], steps); });
  std::printf("%llu\n", static_cast<unsigned long long>(pool[0].tasks + pool[1].tasks));
}

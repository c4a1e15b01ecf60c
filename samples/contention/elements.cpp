// False sharing: threads keep their state in elements of an array on the heap. The elements are shorter than
// a cache line, so those of several threads lie in one line. Each thread adds only to its own, by plain
// additions. elements_fixed gives each element a line of its own.

#include <vector>

#include "team.h"

#ifdef FIXED
struct alignas(64) Task {
#else
struct Task {
#endif
  volatile uint64_t done = 0;
  volatile uint32_t state = 1;
  volatile uint16_t retries = 0;
};

// For eight threads, as a server would; the first two work.
[[gnu::noinline]] std::vector<Task> make_tasks() {
  return std::vector<Task>(8);
}

[[gnu::noinline]] void work(Task& own, uint64_t steps) {
  while (steps--) {
    own.state = own.state * 1'664'525 + 1'013'904'223;
    if (own.state % 64 == 0) own.retries = own.retries + 1;
    own.done = own.done + 1;
  }
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 150);
  std::vector<Task> tasks = make_tasks();
  // Wherever the array starts, one of these three shares a line with its neighbour.
  const auto line_of = [](const Task& task) { return reinterpret_cast<uintptr_t>(&task) / 64; };
  size_t first = 0;
  while (first < 2 && line_of(tasks[first]) != line_of(tasks[first + 1])) ++first;
  team::run([&] { work(tasks[first], steps); }, [&] { work(tasks[first + 1], steps); });
  std::printf("%llu %u\n", static_cast<unsigned long long>(tasks[first].done + tasks[first + 1].done),
              tasks[first].state + tasks[first + 1].state);
}

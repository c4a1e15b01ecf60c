// placed_pairs PAIRS: prints the nanoseconds of CPU time of a malloc and its free as a JSON object. The cases
// are: another size than the repair plan names; its size from another call site; the site that it names; and
// the same for new and delete.

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <new>

constexpr size_t kBytes = 48;  // of the plan

extern "C" {
[[gnu::noinline]] void* named_malloc(size_t bytes) {
  void* at = std::malloc(bytes);
  asm volatile("" : "+r"(at));
  return at;
}
[[gnu::noinline]] void* other_malloc(size_t bytes) {
  void* at = std::malloc(bytes);
  asm volatile("" : "+r"(at));
  return at;
}
[[gnu::noinline]] void* named_new(size_t bytes) {
  void* at = ::operator new(bytes);
  asm volatile("" : "+r"(at));
  return at;
}
[[gnu::noinline]] void* other_new(size_t bytes) {
  void* at = ::operator new(bytes);
  asm volatile("" : "+r"(at));
  return at;
}
}

namespace {

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double cost(size_t pairs, void* (*allocate)(size_t), size_t bytes) {
  const double start = cpu_ns();
  for (size_t i = 0; i < pairs; ++i) std::free(allocate(bytes));
  return (cpu_ns() - start) / static_cast<double>(pairs);
}

}  // namespace

int main(int count, char** argv) {
  const size_t pairs = count > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  std::free(named_malloc(kBytes));  // so that lookups of moved allocations are needed
  const double size = cost(pairs, other_malloc, kBytes + 16);
  const double place = cost(pairs, other_malloc, kBytes);
  const double named = cost(pairs, named_malloc, kBytes);
  const double place_of_new = cost(pairs, other_new, kBytes);
  const double new_named = cost(pairs, named_new, kBytes);
  std::printf(
      "{\"another size\": %.2f, \"another place\": %.2f, \"named\": %.2f, \"new elsewhere\": %.2f, \"new "
      "named\": %.2f}\n",
      size, place, named, place_of_new, new_named);
}

// allocating_calls PAIRS THREADS: prints the nanoseconds of CPU time of a malloc and its free as a JSON
// object: alone, from eight call sites in turn, with a pool of 1,000 blocks, and below sixteen calls.

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace {

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <size_t kSite>
[[gnu::noinline]] void* allocate(size_t bytes) {
  void* volatile at = std::malloc(bytes + kSite);
  return at;
}

void* from_site(size_t site, size_t bytes) {
  switch (site % 8) {
    case 0:
      return allocate<0>(bytes);
    case 1:
      return allocate<1>(bytes);
    case 2:
      return allocate<2>(bytes);
    case 3:
      return allocate<3>(bytes);
    case 4:
      return allocate<4>(bytes);
    case 5:
      return allocate<5>(bytes);
    case 6:
      return allocate<6>(bytes);
    default:
      return allocate<7>(bytes);
  }
}

[[gnu::noinline]] void deep(unsigned calls, size_t pairs) {
  if (calls > 0) {
    deep(calls - 1, pairs);
    asm volatile("");  // prevents a jump instead of the call
    return;
  }
  for (size_t i = 0; i < pairs; ++i) std::free(allocate<0>(64));
}

template <typename Work>
double cost(size_t pairs, Work work) {
  const double start = cpu_ns();
  work(pairs);
  return (cpu_ns() - start) / static_cast<double>(pairs);
}

struct Costs {
  double alone, sites, pool, deep_calls;
};

Costs measure(size_t pairs) {
  Costs costs{};
  costs.alone = cost(pairs, [](size_t n) {
    for (size_t i = 0; i < n; ++i) std::free(allocate<0>(64));
  });
  costs.sites = cost(pairs, [](size_t n) {
    for (size_t i = 0; i < n; ++i) std::free(from_site(i, 16 + i % 4 * 32));
  });
  costs.pool = cost(pairs, [](size_t n) {
    std::vector<void*> kept(1000);
    for (size_t i = 0; i < n; ++i) {
      void*& at = kept[i * 7919 % kept.size()];
      std::free(at);
      at = from_site(i, 16 + i % 61 * 8);
    }
    for (void* at : kept) std::free(at);
  });
  costs.deep_calls = cost(pairs, [](size_t n) { deep(16, n); });
  return costs;
}

}  // namespace

int main(int count, char** argv) {
  const size_t pairs = count > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const size_t threads = count > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::vector<Costs> costs(threads);
  std::vector<std::thread> running;
  for (Costs& own : costs) running.emplace_back([&own, pairs] { own = measure(pairs); });
  for (std::thread& thread : running) thread.join();
  Costs mean{};
  for (const Costs& own : costs) {
    const auto share = static_cast<double>(threads);
    mean.alone += own.alone / share;
    mean.sites += own.sites / share;
    mean.pool += own.pool / share;
    mean.deep_calls += own.deep_calls / share;
  }
  std::printf(
      "{\"one site\": %.2f, \"eight sites\": %.2f, \"kept in a pool\": %.2f, \"below 16 calls\": %.2f}\n",
      mean.alone, mean.sites, mean.pool, mean.deep_calls);
}

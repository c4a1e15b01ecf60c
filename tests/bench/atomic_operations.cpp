// Prints the cost of atomic operations and of a volatile load as JSON, in ns each, the best of several
// batches. tests/bench/annotation_cost compiles it in several ways.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>

namespace {

constexpr int kBatches = 15;
constexpr long kOperations = 2'000'000;

std::atomic<long> atomic{0};
volatile long flag = 0;
std::shared_ptr<int> object = std::make_shared<int>(1);

template <class Operation>
void measure(const char* name, const Operation& operation) {
  double best = 1e9;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (long i = 0; i < kOperations; ++i) operation(i);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / kOperations);
  }
  std::printf("%s\"%s\": %.3f", flag ? ", " : "{", name, best);
  flag = 1;
}

}  // namespace

int main() {
  long sum = 0;
  measure("relaxed load", [&](long) { sum += atomic.load(std::memory_order_relaxed); });
  measure("acquire load", [&](long) { sum += atomic.load(std::memory_order_acquire); });
  measure("release store", [](long i) { atomic.store(i, std::memory_order_release); });
  measure("addition", [](long) { atomic.fetch_add(1, std::memory_order_relaxed); });
  measure("volatile load", [&](long) { sum += flag; });
  measure("shared_ptr copied", [&](long) { sum += *std::shared_ptr<int>(object); });
  std::printf("}\n");
  return sum == 1;
}

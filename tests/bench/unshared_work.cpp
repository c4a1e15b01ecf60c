// unshared_work NAME [MILLIONS]: two threads that do not contend, but do what detectors of contention may
// mistake for it: lines that one thread writes next to another's, and lines that all read.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr size_t kLine = 64;
constexpr size_t kPage = 4096;

// Runs work(thread) in both threads, which begin together. Using its result keeps the compiler from removing
// the work.
template <typename Work>
double both(Work work) {
  std::atomic<int> ready{0};
  double results[2][kLine / sizeof(double)] = {};
  const auto side = [&](int thread) {
    ++ready;
    while (ready < 2) continue;
    results[thread][0] = static_cast<double>(work(thread));
  };
  std::thread other(side, 1);
  side(0);
  other.join();
  return results[0][0] + results[1][0];
}

alignas(kPage) volatile uint64_t pages[2 * kPage / sizeof(uint64_t)];
alignas(kLine) volatile uint64_t lines[2 * kLine / sizeof(uint64_t)];
alignas(kLine) const volatile uint64_t primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

// A word at the end of one page, and one at the start of the next.
double neighbouring_pages(uint64_t steps) {
  constexpr size_t kWords = kPage / sizeof(uint64_t);
  return both([=](int thread) {
    volatile uint64_t& word = pages[thread == 0 ? kWords - 1 : kWords];
    for (uint64_t i = 0; i < steps; ++i) word = word + 1;
    return word;
  });
}

double neighbouring_lines(uint64_t steps) {
  return both([=](int thread) {
    volatile uint64_t& word = lines[static_cast<size_t>(thread) * kLine / sizeof(uint64_t)];
    for (uint64_t i = 0; i < steps; ++i) word = word + 1;
    return word;
  });
}

double read_only_line(uint64_t steps) {
  return both([=](int) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 8 * steps; ++i) sum += primes[i % 8];
    return sum;
  });
}

// Passed from one thread to the other 20 times in all: the line moves, at no noticeable cost.
double handed_over(uint64_t steps) {
  alignas(kLine) static volatile uint64_t word;
  alignas(kLine) static std::atomic<uint64_t> turn;
  const uint64_t turns = 20;
  return both([=](int thread) {
    for (uint64_t t = static_cast<uint64_t>(thread); t < turns; t += 2) {
      while (turn.load(std::memory_order_acquire) != t) std::this_thread::yield();
      for (uint64_t i = 0; i < steps / turns; ++i) word = word + 1;
      turn.store(t + 1, std::memory_order_release);
    }
    return word;
  });
}

// Rows of one result, one half for each thread.
double matrices(uint64_t steps) {
  const auto n = static_cast<size_t>(std::cbrt(8 * static_cast<double>(steps)));
  std::vector<double> a(n * n, 1.5), b(n * n, 0.5), c(n * n);
  return both([&](int thread) {
    const size_t begin = static_cast<size_t>(thread) * (n / 2);
    for (size_t i = begin; i < begin + n / 2; ++i)
      for (size_t k = 0; k < n; ++k)
        for (size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
    return c[begin * n];
  });
}

double random_numbers(uint64_t steps) {
  return both([=](int thread) {
    std::mt19937_64 numbers(static_cast<uint64_t>(thread));
    uint64_t inside = 0;
    for (uint64_t i = 0; i < steps / 16; ++i) {
      const double x = static_cast<double>(numbers()) * 0x1p-64, y = static_cast<double>(numbers()) * 0x1p-64;
      inside += x * x + y * y < 1;
    }
    return inside;
  });
}

double mandelbrot(uint64_t steps) {
  const auto rows = static_cast<int>(steps / 5'000);
  return both([=](int thread) {
    uint64_t sum = 0;
    for (int row = thread; row < rows; row += 2)
      for (int column = 0; column < 200; ++column) {
        const double u = column / 100.0 - 1.5, v = 2.0 * row / rows - 1;
        double x = 0, y = 0;
        for (int i = 0; i < 100 && x * x + y * y < 4; ++i, ++sum) {
          const double next = x * x - y * y + u;
          y = 2 * x * y + v;
          x = next;
        }
      }
    return sum;
  });
}

double trees(uint64_t steps) {
  return both([=](int thread) {
    std::map<uint64_t, std::string> tree;
    std::minstd_rand numbers(static_cast<uint32_t>(thread + 1));
    for (uint64_t i = 0; i < steps / 30; ++i) tree[numbers() % 5000] += 'x';
    return tree.size();
  });
}

double sorting(uint64_t steps) {
  return both([=](int thread) {
    std::minstd_rand numbers(static_cast<uint32_t>(thread + 1));
    std::vector<uint32_t> values(steps / 40);
    std::ranges::generate(values, numbers);
    std::ranges::sort(values);
    return values[values.size() / 2];
  });
}

// Many small objects, from both threads' arenas.
double small_objects(uint64_t steps) {
  return both([=](int thread) {
    std::vector<std::unique_ptr<uint64_t>> kept(64);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < steps / 5; ++i) {
      auto& slot = kept[(i * 7 + static_cast<uint64_t>(thread)) % kept.size()];
      slot = std::make_unique<uint64_t>(i);
      sum += *slot;
    }
    return sum;
  });
}

struct Kind {
  std::string_view name;
  double (*work)(uint64_t steps);
};

constexpr Kind kKinds[] = {
    {"neighbouring_pages", neighbouring_pages},
    {"neighbouring_lines", neighbouring_lines},
    {"read_only_line", read_only_line},
    {"handed_over", handed_over},
    {"matrices", matrices},
    {"random_numbers", random_numbers},
    {"mandelbrot", mandelbrot},
    {"trees", trees},
    {"sorting", sorting},
    {"small_objects", small_objects},
};

}  // namespace

int main(int argc, char** argv) {
  const uint64_t millions = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 500;
  for (const Kind& kind : kKinds) {
    if (argc < 2 || kind.name != argv[1]) continue;
    std::printf("%g\n", kind.work(millions * 1'000'000));
    return 0;
  }
  for (const Kind& kind : kKinds)
    std::fprintf(stderr, "%.*s\n", static_cast<int>(kind.name.size()), kind.name.data());
  return 2;
}

// Prints as JSON how many ns frequent calls of a single-threaded program take: of the allocator, and of a
// mutex, each the best of 20 batches.

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

template <typename Calls>
double nanoseconds(long rounds, Calls calls) {
  double best = 1e9;
  for (int batch = 0; batch < 20; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (long i = 0; i < rounds; ++i) calls(i);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / static_cast<double>(rounds));
  }
  return best;
}

// Prevents the compiler from removing unused allocations.
void* (*volatile allocate)(size_t) = malloc;
void* (*volatile reallocate)(void*, size_t) = realloc;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  const double of_malloc = nanoseconds(rounds, [](long) { free(allocate(40)); });
  void* text = allocate(100);
  const double of_realloc =
      nanoseconds(rounds, [&text](long i) { text = reallocate(text, i % 2 ? 100 : 116); });
  free(text);
  const double of_mutex = nanoseconds(rounds, [](long) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  });
  std::printf(R"({"malloc and free": %.2f, "realloc": %.2f, "lock and unlock": %.2f})"
              "\n",
              of_malloc, of_realloc, of_mutex);
}

// Prints the cost of a pair of lock and unlock as JSON, in ns. Compares an ordinary thread with a converted
// thread that commits one private page after the lock and before the unlock. It has written nothing, one
// counter, or all of that page.

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tests/repair/isolate/converted_thread_processes.h"

namespace {

using namespace hpcrun;
using namespace hpcrun::test;

template <class Work>
double nanoseconds_each(long count, const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < count; ++i) work(i);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(count);
}

}  // namespace

int main() {
  const CommonPages common(3);
  pthread_mutex_t* const mutex = common.mutex(1);
  auto* const figures = common.at<double>(2);
  auto* const data = common.at<volatile uint64_t>(0);
  constexpr size_t kWords = kPageBytes / sizeof(uint64_t);
  in_converted_threads(1, [&](size_t, PrivatePages& pages) {
    std::fill_n(figures, 4, 1e9);
    for (int batch = 0; batch < 20; ++batch) {
      size_t figure = 0;
      const auto measure = [&](long count, const auto& work) {
        const double ns = nanoseconds_each(count, [&](long turn) {
          pthread_mutex_lock(mutex);
          pages.commit(Stores::Others);
          work(turn);
          pages.commit(Stores::Own);
          pthread_mutex_unlock(mutex);
        });
        figures[figure] = std::min(figures[figure], ns);
        ++figure;
      };
      const auto count_one = [&](long) { data[8] = data[8] + 1; };
      measure(20'000, count_one);
      if (!pages.isolate(common.page(0))) return false;
      measure(20'000, [](long) {});
      measure(20'000, count_one);
      measure(2'000, [&](long turn) {
        for (size_t w = 0; w < kWords; ++w) data[w] = static_cast<uint64_t>(turn) * 0x0101010101010101u;
      });
      pages.share_all();
    }
    return true;
  });
  std::printf("{\"common\": %.1f, \"clean\": %.1f, \"one word\": %.1f, \"all words\": %.1f}\n", figures[0],
              figures[1], figures[2], figures[3]);
  return 0;
}

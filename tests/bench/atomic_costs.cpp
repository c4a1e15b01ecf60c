// Prints the cost of an atomic increment in ns as JSON: as compiled, by a trampoline in a thread without
// private pages, and in a converted thread with one, or eight, that nobody writes to. Also prints the time of
// writing the jumps for the first time, in us per hundred jumps.

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "repair/isolate/atomics/atomic_sites.h"
#include "repair/isolate/pages/own_pages.h"
#include "tests/repair/isolate/converted_thread_processes.h"
#include "tests/repair/isolate/made_module.h"

namespace {

using namespace hpcrun;
using namespace hpcrun::test;

template <class Work>
double nanoseconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count();
}

}  // namespace

int main() {
  constexpr size_t kPages = 8, kFunctions = 1000;
  const CommonPages common(kPages + 2);
  auto* const figures = common.at<double>(kPages);
  auto* const counter = common.at<uint64_t>(kPages + 1);
  MadeModule module(kFunctions);
  uint64_t increment = 0;
  for (size_t i = 0; i < kFunctions; ++i)
    increment = module.add({0xf0, 0x48, 0xff, 0x07, 0x90, 0x90, 0x90, 0xc3});  // lock incq (%rdi)
  if (const char* const refusal = plan_atomic_sites(module.finish())) {
    std::fprintf(stderr, "%s\n", refusal);
    return 1;
  }
  const auto count = reinterpret_cast<void (*)(uint64_t*)>(increment);
  const size_t right = in_converted_threads(1, [&](size_t, PrivatePages& pages) {
    std::fill_n(figures, 5, 1e9);
    for (int batch = 0; batch < 20; ++batch) {
      const auto measure = [&](double& best, long turns) {
        const double all = nanoseconds([&] {
          for (long turn = 0; turn < turns; ++turn) count(counter);
        });
        best = std::min(best, all / static_cast<double>(turns));
      };
      measure(figures[0], 100'000);
      bool is_patched = false;
      const double patching = nanoseconds([&] { is_patched = patch_atomic_sites(); });
      if (!is_patched) return false;
      constexpr double kHundreds = kFunctions / 100.0;
      if (batch == 0) figures[4] = patching / 1e3 / kHundreds;  // pages of code are copied once
      measure(figures[1], 100'000);
      own_pages = &pages;
      pages.isolate(common.page(0));
      measure(figures[2], 10'000);
      for (size_t page = 1; page < kPages; ++page) pages.isolate(common.page(page));
      measure(figures[3], 2'000);
      own_pages = nullptr;
      pages.share_all();
      unpatch_atomic_sites();
    }
    return true;
  });
  if (right != 1) return 1;
  std::printf(
      "{\"bare\": %.1f, \"no private page\": %.1f, \"one\": %.1f, \"eight\": %.1f, \"us per 100 jumps\": "
      "%.1f}\n",
      figures[0], figures[1], figures[2], figures[3], figures[4]);
  return 0;
}

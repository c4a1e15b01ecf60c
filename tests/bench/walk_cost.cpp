// Prints the cost of one walk in a signal handler at 19 and 60 frames, for this unwinder, libgcc and
// libunwind in turn (A B C A B C ...), as medians over rounds. Also prints the time for compiling the tables.
// Has no limits to check.
#include <link.h>
#include <signal.h>
#include <time.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <pthread.h>
#include <ucontext.h>

#include "hpcrun/guest/arena.h"
#include "hpcrun/unwind/modules.h"
#include "hpcrun/unwind/unwinder.h"

#ifdef PROF_HAVE_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

namespace {

enum class Walker { Ours, OursCold, Libgcc, Libunwind, Count };
const char* const kNames[] = {"ours", "ours, caches flushed before each walk", "libgcc _Unwind_Backtrace",
                              "libunwind"};

constexpr int kRounds = 15;
constexpr int kWalksPerRound = 200;
constexpr size_t kEvictBytes = 8 * 1024 * 1024;

hpcrun::Arena arena;
hpcrun::Unwinder unwinder;
volatile Walker walker;
volatile uint32_t walked_depth;
double last_ns;
unsigned char* evict;

uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

_Unwind_Reason_Code count_frame(_Unwind_Context*, void* count) {
  ++*static_cast<uint32_t*>(count);
  return _URC_NO_REASON;
}

uint32_t walk_once(void* context) {
  switch (walker) {
    case Walker::Ours:
    case Walker::OursCold:
      return unwinder.walk(*static_cast<const ucontext_t*>(context)).depth;
    case Walker::Libgcc: {
      uint32_t count = 0;
      _Unwind_Backtrace(count_frame, &count);
      return count;
    }
    default: {
#ifdef PROF_HAVE_LIBUNWIND
      uint32_t count = 1;
      unw_cursor_t cursor;
      unw_init_local2(&cursor, static_cast<unw_context_t*>(context), UNW_INIT_SIGNAL_FRAME);
      while (unw_step(&cursor) > 0) ++count;
      return count;
#else
      return 0;
#endif
    }
  }
}

void on_signal(int, siginfo_t*, void* context) {
  walked_depth = walk_once(context);  // warm-up
  uint64_t sum = 0;
  for (int i = 0; i < kWalksPerRound; ++i) {
    if (walker == Walker::OursCold) {
      for (size_t at = 0; at < kEvictBytes; at += 64) evict[at] = static_cast<unsigned char>(evict[at] + 1);
    }
    const uint64_t start = now();
    walked_depth = walk_once(context);
    sum += now() - start;
  }
  last_ns = static_cast<double>(sum) / kWalksPerRound;
}

// Sixty-four functions, so that the frames of a walk have different return addresses.
template <int kDepth>
__attribute__((noipa)) int descend() {
  volatile int local = kDepth;
  if constexpr (kDepth == 0) {
    raise(SIGUSR1);
    return local;
  } else {
    return descend<kDepth - 1>() + local;
  }
}

using Descent = int (*)();
template <int... kDepths>
constexpr std::array<Descent, sizeof...(kDepths)> descents(std::integer_sequence<int, kDepths...>) {
  return {descend<kDepths>...};
}
constexpr auto kDescents = descents(std::make_integer_sequence<int, 64>{});

int total_depth(size_t calls) {
  walker = Walker::Ours;
  kDescents[calls]();
  return static_cast<int>(walked_depth);
}

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int count_modules(dl_phdr_info*, size_t, void* count) {
  ++*static_cast<int*>(count);
  return 0;
}

}  // namespace

int main() {
  int modules = 0;
  dl_iterate_phdr(count_modules, &modules);
  uint64_t start = now();
  hpcrun::refresh_modules();
  std::printf("tables of %d modules: %.2f ms, %zu KiB\n", modules, static_cast<double>(now() - start) / 1e6,
              hpcrun::module_table_bytes() / 1024);
  start = now();
  hpcrun::refresh_modules();
  std::printf("refresh with nothing changed: %.2f us\n", static_cast<double>(now() - start) / 1e3);

  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* low = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  const auto bottom = reinterpret_cast<uint64_t>(low);
  if (!unwinder.attach(arena, {bottom, bottom + bytes})) return 1;
  evict = static_cast<unsigned char*>(std::calloc(kEvictBytes, 1));

  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, nullptr);

  for (const int frames : {19, 60}) {
    const auto calls = static_cast<size_t>(frames - total_depth(0));
    std::vector<double> results[static_cast<int>(Walker::Count)];
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < static_cast<int>(Walker::Count); ++i) {
        walker = static_cast<Walker>(i);
        kDescents[calls]();
        results[i].push_back(last_ns);
      }
    }
    std::printf("%d frames, ns per walk (median of %d rounds of %d):\n", total_depth(calls), kRounds,
                kWalksPerRound);
    for (int i = 0; i < static_cast<int>(Walker::Count); ++i) {
      std::printf("  %-40s %8.0f\n", kNames[i], median(results[i]));
    }
  }
  std::printf("(includes two clock_gettime calls: %.0f ns)\n", [] {
    const uint64_t begin = now();
    for (int i = 0; i < 1000; ++i) (void)now();
    return static_cast<double>(now() - begin) / 1000;
  }());
}

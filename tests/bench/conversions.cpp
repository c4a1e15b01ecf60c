// Measures the cost of converting a thread and giving it back: conversions [MiB [TURNS]] prints medians and
// 90th percentiles in microseconds, with that much common memory touched (default 16).

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/isolated_atomics.h"

namespace {

uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void print(const char* what, std::vector<uint64_t>& ns) {
  std::sort(ns.begin(), ns.end());
  const auto us = [&](size_t place) { return static_cast<double>(ns[place]) / 1e3; };
  printf("%s %.1f %.1f\n", what, us(ns.size() / 2), us(ns.size() * 9 / 10));
}

alignas(4096) volatile char page[4096];

}  // namespace

int main(int argc, char** argv) {
  const size_t megabytes = argc > 1 ? strtoul(argv[1], nullptr, 10) : 16;
  const int turns = argc > 2 ? atoi(argv[2]) : 500;
  isolated_make_common();
  isolated_plan_atomics(true);
  isolated_keep_patched_code();
  isolated_add_page(const_cast<char*>(page));
  if (const int result = isolated_begin()) {
    fprintf(stderr, "no session: %d\n", result);
    return 125;
  }
  auto* const heap = static_cast<char*>(isolated_map(megabytes << 20));
  if (!heap) {
    fprintf(stderr, "no memory\n");
    return 125;
  }
  for (size_t at = 0; at < megabytes << 20; at += 4096) heap[at] = 1;

  std::vector<uint64_t> there, back, touched;
  for (int turn = 0; turn < turns; ++turn) {
    const uint64_t begin = now_ns();
    if (!isolated_convert()) return 1;
    const uint64_t converted = now_ns();
    // Memory with which the thread continues.
    for (size_t at = 0; at < 64; ++at) heap[at * 4096] = 2;
    const uint64_t worked = now_ns();
    isolated_give_back();
    const uint64_t end = now_ns();
    there.push_back(converted - begin);
    touched.push_back(worked - converted);
    back.push_back(end - worked);
  }
  print("conversion", there);
  print("first touch of 64 pages", touched);
  print("giving back", back);
}

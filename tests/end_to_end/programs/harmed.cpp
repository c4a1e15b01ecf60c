// harmed: waits if its allocations are not placed as it requires, so that of the two repairs of a plan one
// makes it faster and the other one slower. All allocations of better() should start at a cache line; those
// of worse() should not all do so.

#include <stdint.h>
#include <stdlib.h>

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

using namespace std::chrono_literals;

constexpr size_t kLine = 64;
constexpr int kObjects = 16;

void* keep(void* at) {
  asm volatile("" : "+r"(at));
  return at;
}

// Releases nothing, so that the allocator places blocks next to each other unless it is repaired.
bool all_begin_lines(void* (*allocate)(size_t)) {
  bool all = true;
  for (int i = 0; i < kObjects; ++i) all &= reinterpret_cast<uintptr_t>(allocate(8)) % kLine == 0;
  return all;
}

}  // namespace

// Tests look up their names in the program's code.
extern "C" {
[[gnu::noinline]] void* better(size_t bytes) {
  return keep(malloc(bytes));
}
[[gnu::noinline]] void* worse(size_t bytes) {
  return keep(malloc(bytes));
}
}

int main() {
  if (!all_begin_lines(better)) std::this_thread::sleep_for(600ms);
  if (all_begin_lines(worse)) std::this_thread::sleep_for(300ms);
  std::puts("done");
}

// harmed: waits where its allocations do not lie as it likes them, so that of the two repairs of a plan one
// makes it faster and the other one slower. Those of better() should all begin a cache line, those of worse()
// should not all do so.

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

// Nothing is released, so that the allocator puts them side by side, where it is not told otherwise.
bool all_begin_lines(void* (*allocate)(size_t)) {
  bool all = true;
  for (int i = 0; i < kObjects; ++i) all &= reinterpret_cast<uintptr_t>(allocate(8)) % kLine == 0;
  return all;
}

}  // namespace

// Their names are looked up in the program's code.
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

// A program with an allocator in its executable that never leaves its own code: it makes no library call and
// no system call until SIGUSR1 arrives. Its allocator checks that it is not re-entered.

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "tests/end_to_end/programs/own_blocks.h"

namespace {

alignas(64) unsigned char memory[256 << 20];
size_t used = 0;
volatile int turns = 0;
void* volatile last = nullptr;
std::atomic<bool> at_work{false};
volatile sig_atomic_t ends = 0;

}  // namespace

extern "C" void* malloc(size_t bytes) {
  while (at_work.exchange(true)) continue;  // a thread that interrupts itself here never continues
  const size_t at = used + 16;              // the size is before it
  if (at + bytes <= sizeof memory) used += (bytes + 31) / 16 * 16;
  for (int i = 0; i < 200; ++i) turns = turns + 1;
  at_work = false;
  return block_at(memory, sizeof memory, at, bytes);
}
extern "C" void free(void*) {}

namespace {

[[gnu::noinline]] void busy() {
  volatile uint64_t value = 1;
  for (int i = 0; i < 2000; ++i) value = value * 3 + 1;
  if (value % 1024 == 1023) last = malloc(8);
}

}  // namespace

int main() {
  ::signal(SIGUSR1, [](int) { ends = 1; });
  std::puts("ready");
  std::fflush(stdout);
  while (!ends) {
    busy();
    if (used < sizeof memory / 2) last = malloc(8);
  }
  std::puts("unharmed");
  return 42;
}

// Two threads that use adjacent words on a page that each of them returns to the kernel before. Nearly every
// access faults. The kernel records faults like samples of memory-sampling hardware, with the address and the
// thread. Argument: rounds.

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

struct Ledger {
  uint64_t paid;
  uint64_t owed;
};

alignas(4096) union {
  Ledger ledger;
  char page[4096];
} books;

std::atomic<int> ready{0};

void start_together() {
  ++ready;
  while (ready < 2) continue;
}

[[gnu::noinline]] void pay(long rounds) {
  start_together();
  for (long i = 0; i < rounds; ++i) {
    madvise(books.page, sizeof books.page, MADV_DONTNEED);
    *static_cast<volatile uint64_t*>(&books.ledger.paid) = 1;
  }
}

[[gnu::noinline]] void owe(long rounds) {
  start_together();
  for (long i = 0; i < rounds; ++i) {
    madvise(books.page, sizeof books.page, MADV_DONTNEED);
    *static_cast<volatile uint64_t*>(&books.ledger.owed) = 1;
  }
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 100'000;
  std::thread payer(pay, rounds);
  std::thread ower(owe, rounds);
  payer.join();
  ower.join();
  std::puts("done");
}

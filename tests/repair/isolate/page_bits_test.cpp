#include "repair/isolate/memory/page_bits.h"

#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <random>
#include <set>

using hpcrun::kPageBytes;
using hpcrun::PageBits;

namespace {

constexpr uint64_t page(uint64_t number) {
  return number * kPageBytes;
}

struct Sparse {
  void* memory = mmap(nullptr, PageBits::kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  PageBits bits{memory};
  ~Sparse() { munmap(memory, PageBits::kBytes); }
};

}  // namespace

TEST_CASE("the last page of the address space has a bit, and beyond there is nothing") {
  Sparse sparse;
  const uint64_t last = hpcrun::kAddressSpaceBytes - kPageBytes;
  sparse.bits.set(last, hpcrun::kAddressSpaceBytes);
  CHECK(sparse.bits.has(last));
  CHECK(sparse.bits.has(last + 17));
  CHECK_FALSE(sparse.bits.has(last - 1));
  CHECK_FALSE(sparse.bits.has(hpcrun::kAddressSpaceBytes));
  CHECK_FALSE(sparse.bits.has(~uint64_t{0}));
}

TEST_CASE("a claim takes all pages or none") {
  Sparse sparse;
  sparse.bits.set(page(300), page(301));
  CHECK_FALSE(sparse.bits.claim(page(10), page(301)));
  CHECK_FALSE(sparse.bits.has_any(page(10), page(300)));
  CHECK(sparse.bits.claim(page(10), page(300)));
  CHECK(sparse.bits.run_end(page(10), page(1000)) == page(301));
  CHECK_FALSE(sparse.bits.has(page(9)));
}

TEST_CASE("random ranges are as in a set of pages") {
  Sparse sparse;
  std::set<uint64_t> pages;
  std::mt19937 random(1);
  for (int turn = 0; turn < 3000; ++turn) {
    const uint64_t low = random() % 700, high = low + 1 + random() % 200;
    const auto from = pages.lower_bound(low), to = pages.lower_bound(high);
    REQUIRE(sparse.bits.has_any(page(low), page(high)) == (from != to));
    REQUIRE(sparse.bits.last_set(page(low), page(high)) == page(from == to ? high : *std::prev(to)));
    uint64_t end = low;
    while (end < high && pages.contains(end) == pages.contains(low)) ++end;
    REQUIRE(sparse.bits.run_end(page(low), page(high)) == page(end));
    switch (random() % 3) {
      case 0:
        REQUIRE(sparse.bits.claim(page(low), page(high)) == (from == to));
        if (from != to) break;
        [[fallthrough]];
      case 1:
        sparse.bits.set(page(low), page(high));
        for (uint64_t at = low; at < high; ++at) pages.insert(at);
        break;
      case 2:
        sparse.bits.clear(page(low), page(high));
        pages.erase(from, to);
        break;
    }
  }
}

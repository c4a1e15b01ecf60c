#include "hpcrun/heap/mappings.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace hpcrun;

namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

TEST_CASE("what was mapped is found up to its end, until it is gone") {
  Mappings mappings;
  FoundMapping found;
  CHECK_FALSE(mappings.add(kPage, kPage, 1));  // not started
  CHECK_FALSE(mappings.find(kPage, found));
  REQUIRE(mappings.start());
  const uint64_t begin = 0x7ffff0000000;
  REQUIRE(mappings.add(begin, 3 * kPage, kLastSite));
  REQUIRE(mappings.find(begin + 3 * kPage - 1, found));
  CHECK(found.begin == begin);
  CHECK(found.bytes == 3 * kPage);
  CHECK(found.site == kLastSite);
  CHECK_FALSE(mappings.find(begin + 3 * kPage, found));
  CHECK_FALSE(mappings.find(begin - 1, found));
  CHECK_FALSE(mappings.add(uint64_t{1} << 47, kPage, 1));
  CHECK(mappings.remove(begin + kPage) == Mappings::kNone);
  CHECK(mappings.find(begin, found));
  CHECK(mappings.remove(begin) == Mappings::kNone);  // it was never added
  CHECK_FALSE(mappings.find(begin, found));
}

TEST_CASE("a mapping has one number, and what comes to its place another") {
  Mappings mappings;
  REQUIRE(mappings.start());
  FoundMapping first, second;
  REQUIRE(mappings.add(kPage, kPage, 1));
  REQUIRE(mappings.find(kPage, first));
  CHECK(mappings.number_of(first, Mappings::kNone) == Mappings::kNone);
  CHECK(mappings.number_of(first, 7) == 7);
  CHECK(mappings.number_of(first, 8) == 7);
  CHECK(mappings.number_of(first, Mappings::kNone) == 7);
  CHECK(mappings.remove(kPage) == 7);
  CHECK(mappings.number_of(first, 9) == Mappings::kNone);  // it was removed
  REQUIRE(mappings.add(kPage, kPage, 2));
  REQUIRE(mappings.find(kPage, second));
  CHECK(second.site == 2);
  CHECK(mappings.number_of(second, 9) == 9);
}

TEST_CASE("of mappings in each other the inner one is found") {
  Mappings mappings;
  REQUIRE(mappings.start());
  FoundMapping found;
  REQUIRE(mappings.add(16 * kPage, 16 * kPage, 1));
  REQUIRE(mappings.add(20 * kPage, kPage, 2));
  REQUIRE(mappings.find(20 * kPage + 8, found));
  CHECK(found.site == 2);
  REQUIRE(mappings.find(21 * kPage, found));
  CHECK(found.site == 1);
}

TEST_CASE("mappings without room are not found, and harm no other") {
  Mappings mappings;
  REQUIRE(mappings.start());
  std::vector<uint64_t> known;
  for (uint64_t page = 1; page <= 3000; ++page)
    if (mappings.add(page * kPage, kPage, 1)) known.push_back(page * kPage);
  CHECK(known.size() > 500);
  CHECK(known.size() <= 1024);
  FoundMapping found;
  for (const uint64_t begin : known) {
    REQUIRE(mappings.find(begin, found));
    CHECK(found.begin == begin);
    mappings.remove(begin);
  }
  CHECK_FALSE(mappings.find(known.back(), found));
}

TEST_CASE("threads map and unmap at once") {
  Mappings mappings;
  REQUIRE(mappings.start());
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < 20'000; ++i) {
        const uint64_t begin = (thread * 100 + i % 100 + 1) * kPage;
        const auto site = static_cast<SiteId>(thread + 1);
        FoundMapping found;
        if (!mappings.add(begin, kPage, site)) continue;
        wrong += !mappings.find(begin, found) || found.begin != begin || found.site != site;
        wrong += mappings.number_of(found, i + 1) != i + 1;
        wrong += mappings.remove(begin) != i + 1;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

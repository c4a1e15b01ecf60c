// Contexts and sizes are converted to numbers and back.

#include "hpcrun/heap/allocation_sites.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

using namespace hpcrun;

namespace {

std::unique_ptr<AllocationSites> started() {
  auto sites = std::make_unique<AllocationSites>();
  REQUIRE(sites->start());
  return sites;
}

}  // namespace

TEST_CASE("a context with a size has one number, whoever asks") {
  const auto sites = started();
  const SiteId number = sites->number_of(0x1234, {1, 77, 40});
  REQUIRE(number != kNoSite);
  CHECK(sites->number_of(0x1234, {2, 99, 40}) == number);
  CHECK(sites->site(number).thread == 1);
  CHECK(sites->site(number).node == 77);
  CHECK(sites->site(number).bytes == 40);
  const SiteId other = sites->number_of(0x1234, {1, 77, 48});
  CHECK(other != number);
  CHECK(sites->site(other).bytes == 48);
  CHECK(sites->number_of(0x1235, {1, 78, 40}) != number);
}

TEST_CASE("a program with few sites touches few pages") {
  const auto sites = started();
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  const long before = faults();
  for (uint64_t path = 1; path <= 1000; ++path) sites->number_of(path * 0x9e3779b97f4a7c15u, {1, 2, 40});
  CHECK(faults() - before < 150);  // 2,000 places of 16 bytes, with spare room, and 1,000 sites of 48
  CHECK(sites->count() == 1000);
}

TEST_CASE("many sizes of one context are few numbers, with what is not exceeded") {
  const auto sites = started();
  std::set<SiteId> numbers;
  for (uint64_t bytes = 1; bytes <= 1000; ++bytes) numbers.insert(sites->number_of(0x77, {3, 5, bytes}));
  // 32, 64 ... 1024 in addition to their own.
  CHECK(numbers.size() == AllocationSites::kMaxSizes + 6);
  CHECK(sites->site(*numbers.begin()).varies == false);
  const SiteId varied = sites->number_of(0x77, {3, 5, 2000});
  CHECK(sites->site(varied).bytes == 2048);
  CHECK(sites->site(varied).varies);
  CHECK(sites->number_of(0x77, {3, 5, 1025}) == varied);
  CHECK(sites->site(varied).node == 5);
  CHECK(sites->number_of(0x78, {3, 6, 8}) != varied);
}

TEST_CASE("when numbers run out contexts go without") {
  const auto sites = started();
  std::set<SiteId> numbers;
  uint64_t without = 0;
  for (uint64_t path = 1; path <= 60'000; ++path) {
    const SiteId number = sites->number_of(path * 0x10001, {0, static_cast<uint32_t>(path), 16 + path % 3});
    if (number == kNoSite)
      ++without;
    else if (!numbers.insert(number).second)
      FAIL("number " << number << " was given out twice");
  }
  CHECK(numbers.size() == kLastSite);
  CHECK(without == 60'000 - kLastSite);
  CHECK(sites->number_of(0x10001, {0, 1, 17}) != kNoSite);
  AllocationSites never_started;
  CHECK(never_started.number_of(1, {}) == kNoSite);
}

TEST_CASE("threads that ask at once get the same numbers") {
  const auto sites = started();
  std::mutex mutex;
  std::map<uint64_t, std::set<SiteId>> seen;
  const auto work = [&](uint32_t thread) {
    std::mt19937 random(thread);
    std::map<uint64_t, std::set<SiteId>> mine;
    for (int i = 0; i < 50'000; ++i) {
      const uint64_t path = 1 + random() % 2'000;
      mine[path].insert(sites->number_of(path << 20, {thread, static_cast<uint32_t>(path), 64}));
    }
    const std::lock_guard lock(mutex);
    for (auto& [path, numbers] : mine) seen[path].merge(numbers);
  };
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < 4; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  for (auto& [path, numbers] : seen) {
    CHECK(numbers.size() == 1);
    CHECK(sites->site(*numbers.begin()).node == path);
  }
}

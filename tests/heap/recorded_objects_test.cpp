#include "hpcrun/heap/recorded_objects.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

using namespace hpcrun;

TEST_CASE("an object has one number as long as it lives") {
  RecordedObjects objects;
  bool is_new;
  CHECK(objects.number_of(0x1000, is_new) == RecordedObjects::kNone);  // not started
  CHECK(objects.remove(0x1000) == RecordedObjects::kNone);
  REQUIRE(objects.start());
  const uint64_t first = objects.number_of(0x7ffff0001230, is_new);
  REQUIRE(first != RecordedObjects::kNone);
  CHECK(is_new);
  CHECK(objects.number_of(0x7ffff0001230, is_new) == first);
  CHECK_FALSE(is_new);
  const uint64_t other = objects.number_of(0x7ffff0001240, is_new);
  CHECK(other != first);
  CHECK(objects.remove(0x7ffff0001230) == first);
  CHECK(objects.remove(0x7ffff0001230) == RecordedObjects::kNone);
  // An object at the same address is another one.
  const uint64_t next = objects.number_of(0x7ffff0001230, is_new);
  CHECK(is_new);
  CHECK(next != first);
  CHECK(next != other);
}

TEST_CASE("when there is no room objects go without") {
  RecordedObjects objects;
  REQUIRE(objects.start());
  bool is_new;
  uint64_t without = 0;
  for (uint64_t at = 1; at <= 10'000; ++at)
    if (objects.number_of(at * 64, is_new) == RecordedObjects::kNone) ++without;
  CHECK(without > 0);
  CHECK(without < 6'000);
}

TEST_CASE("threads that ask at once get the same number") {
  RecordedObjects objects;
  REQUIRE(objects.start());
  constexpr uint64_t kObjects = 1'000;
  std::vector<std::vector<uint64_t>> got(4, std::vector<uint64_t>(kObjects));
  std::atomic<uint64_t> news{0};
  std::vector<std::thread> threads;
  for (auto& mine : got)
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kObjects; ++i) {
        bool is_new;
        mine[i] = objects.number_of(0x10000 + i * 16, is_new);
        if (is_new) ++news;
      }
    });
  for (std::thread& thread : threads) thread.join();
  uint64_t numbers = 0;
  for (uint64_t i = 0; i < kObjects; ++i) {
    std::set<uint64_t> distinct;
    for (const auto& mine : got) distinct.insert(mine[i]);
    distinct.erase(RecordedObjects::kNone);  // whose place another object took at the same time
    CHECK(distinct.size() <= 1);
    numbers += distinct.size();
  }
  CHECK(news == numbers);
}

TEST_CASE("threads that ask at once for different objects all get numbers") {
  constexpr uint64_t kObjects = 2'000;
  RecordedObjects objects;
  REQUIRE(objects.start());
  std::atomic<unsigned> ready{0};
  std::set<uint64_t> numbers[2];
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < 2) {
      }
      for (uint64_t i = 0; i < kObjects; ++i) {
        bool is_new;
        numbers[t].insert(objects.number_of(0x10000 + (2 * i + t) * 32, is_new));
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::set<uint64_t>& of_thread : numbers) {
    CHECK(of_thread.size() == kObjects);
    CHECK_FALSE(of_thread.contains(RecordedObjects::kNone));
  }
}

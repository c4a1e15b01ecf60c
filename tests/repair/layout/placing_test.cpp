// Which calls of the allocator are checked, what was decided for their sites, and where moved objects are.

#include <sys/mman.h>

#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "hpcrun/contention/contended_lines.h"
#include "hpcrun/heap/placement_filter.h"
#include "hpcrun/heap/preload/moved_objects.h"
#include "hpcrun/heap/preload/placed_memory.h"
#include "repair/layout/site_placements.h"

using namespace hpcrun;

namespace {

// The frame of a call, with the return address below it and others above, on one page.
struct alignas(128) Frame {
  uint64_t words[16] = {};
  const void* at() const { return words + 1; }
  explicit Frame(uint64_t caller, uint64_t outer = 0, size_t distance = 0) {
    words[0] = caller;
    if (distance) words[1 + distance / 8] = outer;
  }
};

}  // namespace

TEST_CASE("a filter holds the sizes and places that it was given, and few others") {
  auto filter = std::make_unique<PlacementFilter>();
  CHECK_FALSE(filter->may_hold(48, Frame(0x401234).at()));
  filter->add_sizes(40, 48);
  CHECK_FALSE(filter->may_hold(48, Frame(0x401234).at()));
  filter->add_path(0x401234, 0);
  for (uint64_t bytes = 1; bytes < 4096; ++bytes)
    REQUIRE(filter->may_hold(bytes, Frame(0x401234).at()) == (bytes >= 40 && bytes <= 48));
  uint32_t wrong = 0;
  for (uint64_t caller = 0x500000; caller < 0x510000; caller += 7)
    wrong += filter->may_hold(48, Frame(caller).at());
  CHECK(wrong < 100);
  filter->add_sizes(1, uint64_t{1} << 40);
  CHECK(filter->may_hold(123'456'789, Frame(0x401234).at()));
}

TEST_CASE("callers of a small function around the allocator are distinguished where its frame is known") {
  auto filter = std::make_unique<PlacementFilter>();
  constexpr uint64_t kNew = 0x7f0000001111, kSite = 0x402222, kOther = 0x403333;
  filter->add_sizes(48, 48);
  filter->add_path(kNew, kSite);
  CHECK(filter->may_hold(48, Frame(kNew, kOther, 16).at()));  // it is not known yet
  filter->learn_distance(kNew, 16);
  CHECK(filter->may_hold(48, Frame(kNew, kSite, 16).at()));
  CHECK_FALSE(filter->may_hold(48, Frame(kNew, kOther, 16).at()));
  filter->learn_distance(kNew, 16);
  CHECK_FALSE(filter->may_hold(48, Frame(kNew, kOther, 16).at()));
  filter->learn_distance(kNew, 32);  // its frame varies in size
  CHECK(filter->may_hold(48, Frame(kNew, kOther, 16).at()));
  CHECK(filter->may_hold(48, Frame(kNew, kSite, 32).at()));

  constexpr uint64_t kAny = 0x404444;
  filter->add_path(kAny, 0);
  filter->learn_distance(kAny, 16);
  CHECK(filter->may_hold(48, Frame(kAny, kOther, 16).at()));
}

TEST_CASE("nothing is read beyond a stack's end where a frame is smaller than it was known to be") {
  constexpr size_t kPageBytes = 4096;
  auto* const pages = static_cast<char*>(
      mmap(nullptr, 2 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  REQUIRE(mprotect(pages + kPageBytes, kPageBytes, PROT_NONE) == 0);
  constexpr uint64_t kCaller = 0x405555, kSite = 0x406666, kOther = 0x407777;
  auto filter = std::make_unique<PlacementFilter>();
  filter->add_sizes(48, 48);
  filter->add_path(kCaller, kSite);
  filter->learn_distance(kCaller, 4096 - 64);
  auto* const low = new (pages) uint64_t[8]{kCaller};
  new (pages + kPageBytes - 56) uint64_t{kOther};
  CHECK_FALSE(filter->may_hold(48, low + 1));
  auto* const high = new (pages + kPageBytes - 64) uint64_t[8]{kCaller};
  CHECK(filter->may_hold(48, high + 1));
  munmap(pages, 2 * kPageBytes);
}

TEST_CASE("a site is decided once") {
  SitePlacements sites;
  CHECK_FALSE(sites.decide(3, {{64, 16, 64}, false}));  // not started
  REQUIRE(sites.start());
  CHECK_FALSE(sites.is_decided(3));
  CHECK(sites.of(3) == SiteDecision{});
  CHECK(sites.decide(3, {{128, 112, 64}, true}));
  CHECK(sites.of(3) == SiteDecision{{128, 112, 64}, true});
  CHECK_FALSE(sites.decide(3, {{64, 0, 64}, false}));
  CHECK(sites.of(3) == SiteDecision{{128, 112, 64}, true});
  CHECK(sites.decide(4, {}));
  CHECK(sites.is_decided(4));
  CHECK(sites.of(4) == SiteDecision{});
  CHECK_FALSE(sites.decide(kNoSite, {}));
  CHECK(sites.decide(kLastSite, {{64, 0, 64}, false}));
}

TEST_CASE("the filter of contended lines holds all that were added, until there is no room") {
  auto lines = std::make_unique<ContendedLines>();
  CHECK(lines->is_empty());
  CHECK_FALSE(lines->holds(0x10000));
  CHECK(lines->add(0x10010));
  CHECK_FALSE(lines->is_empty());
  CHECK(lines->holds(0x10000));
  CHECK(lines->holds(0x1003f));
  uint64_t added = 1;
  std::vector<uint64_t> all;
  for (uint64_t line = 0x7f0000000000; line < 0x7f0000100000; line += 64)
    if (lines->add(line)) all.push_back(line);
  for (const uint64_t line : all) REQUIRE(lines->holds(line));
  added += all.size();
  CHECK(added >= ContendedLines::kMaxLines);
  CHECK(added < 2 * ContendedLines::kMaxLines + 3000);
  uint32_t wrong = 0;
  for (uint64_t line = 0x1000000; line < 0x1000000 + 64 * 10'000; line += 64) wrong += lines->holds(line);
  CHECK(wrong < 10'000 / 4);
}

TEST_CASE("a placement takes what the program asked for into account") {
  const PlaceAnswer answer{64, 16, 64, 1};
  PlacedRequest request = placed_request(40, 1, answer);
  CHECK(request.align == 64);
  CHECK(request.offset == 16);
  CHECK(request.bytes == 64);
  CHECK(placed_request(49, 16, answer).bytes == 128);
  CHECK(placed_request(40, 32, answer).align == 0);  // 16 is not a multiple of 32
  request = placed_request(40, 4096, {64, 0, 64, 1});
  CHECK(request.align == 4096);
  CHECK(request.bytes == 64);
  CHECK(placed_request(100, 1, {16, 0, 128, 1}).align == 128);  // otherwise its end could not be determined
  CHECK(placed_request(40, 1, {0, 0, 0, 1}).align == 0);
  CHECK(placed_request(SIZE_MAX, 1, answer).align == 0);
  CHECK(placed_request(SIZE_MAX / 2, 1, answer).align == 0);
  CHECK(placed_request(40, size_t{1} << 63, {64, 0, 64, 1}).align == 0);
}

TEST_CASE("objects that were moved are found, and where they begin") {
  const auto objects = std::make_unique<MovedObjects>();
  alignas(64) char memory[256];
  CHECK_FALSE(objects->may_hold(memory + 16));
  CHECK(objects->base_of(memory + 16) == memory + 16);
  CHECK(objects->take(memory + 16) == memory + 16);
  REQUIRE(objects->add(memory + 112, 112, 99));
  CHECK(objects->may_hold(memory + 112));
  CHECK_FALSE(objects->may_hold(memory + 16));
  CHECK(objects->base_of(memory + 112) == memory);
  CHECK(MovedObjects::bytes_of(memory + 112) == 99);
  CHECK(objects->base_of(memory + 113) == memory + 113);
  CHECK(objects->take(memory + 112) == memory);
  CHECK(objects->take(memory + 112) == memory + 112);
  CHECK(objects->may_hold(memory + 112));  // because of other objects of its kind
}

TEST_CASE("moved objects come and go in any order, from several threads, and none is lost") {
  const auto objects = std::make_unique<MovedObjects>();
  std::atomic<uint32_t> wrong{0}, refused{0};
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      std::mt19937_64 random(thread);
      std::vector<char> memory(1 << 20);
      char* const first = memory.data() + 64 - reinterpret_cast<uintptr_t>(memory.data()) % 64;
      std::map<char*, size_t> live;
      for (int i = 0; i < 100'000; ++i) {
        char* const at = first + (1 + random() % 8000) * 128;
        const size_t offset = 16 * (1 + reinterpret_cast<uintptr_t>(at) / 128 % 7);
        const auto known = live.find(at);
        if (known == live.end()) {
          if (objects->add(at, offset, i))
            live[at] = offset;
          else
            ++refused;
        } else {
          wrong += objects->base_of(at) != at - known->second || objects->take(at) != at - known->second;
          live.erase(known);
        }
      }
      for (const auto& [at, offset] : live) wrong += objects->take(at) != at - offset;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(refused < 1000);
}

TEST_CASE("when there is no room for moved objects they are refused") {
  const auto objects = std::make_unique<MovedObjects>();
  std::vector<char> memory((MovedObjects::kMaxObjects + 1000) * 64);
  size_t kept = 0;
  std::vector<char*> all;
  for (size_t at = 64 - reinterpret_cast<uintptr_t>(memory.data()) % 64 + 16; at < memory.size(); at += 64)
    if (objects->add(memory.data() + at, 16, 1)) all.push_back(memory.data() + at);
  for (char* const at : all) kept += objects->take(at) == at - 16;
  CHECK(kept == all.size());
  CHECK(kept > MovedObjects::kMaxObjects / 2);
  CHECK(kept <= MovedObjects::kMaxObjects);
}

// Contexts of allocations, found again by return address and stack, on a synthetic stack.

#include "hpcrun/heap/allocation_contexts.h"

#include <catch2/catch.hpp>

#include <memory>
#include <set>
#include <vector>

#include "hpcrun/unwind/modules.h"

using namespace hpcrun;

namespace {

constexpr size_t kWords = 64;

// A call whose frame begins at word 8, with return addresses there and in the given words.
struct CallOnStack {
  alignas(4096) uint64_t words[kWords] = {};
  std::vector<size_t> returns;

  CallOnStack(uint64_t caller, std::vector<std::pair<size_t, uint64_t>> further) {
    words[7] = caller;
    for (const auto& [at, value] : further) {
      words[at] = value;
      returns.push_back(at);
    }
  }
  StackBounds bounds() const {
    return {reinterpret_cast<uint64_t>(words), reinterpret_cast<uint64_t>(words + kWords)};
  }
  AllocationCall call() const { return call_at(words + 8, bounds()); }

  // Records what a walk from below the call records.
  void record(WalkRecord& out) const {
    out = {};
    out.origin.sp = reinterpret_cast<uint64_t>(words);
    out.generation = walk_generation();
    out.words[out.count++] = {words[7], 7 * 8, 1};
    for (const size_t at : returns) out.words[out.count++] = {words[at], static_cast<uint32_t>(at * 8), 1};
    out.words[out.count++] = {1234, 60 * 8, 0};  // a frame pointer
  }
};

}  // namespace

TEST_CASE("a call is found again while its callers are the same") {
  const auto contexts = std::make_unique<AllocationContexts>();
  CallOnStack stack(0x1000, {{10, 0x2000}, {20, 0x3000}});
  CHECK(contexts->find(stack.call()) == nullptr);
  stack.record(contexts->record);
  AllocationContext& added = contexts->add(stack.call(), 77, 5);
  REQUIRE(contexts->find(stack.call()) == &added);
  CHECK(added.path() == 77);
  CHECK(added.node() == 5);

  stack.words[60] = 99;  // not a return address
  CHECK(contexts->find(stack.call()) == &added);
  stack.words[20] = 0x3001;
  CHECK(contexts->find(stack.call()) == nullptr);
  stack.words[20] = 0x3000;
  stack.words[7] = 0x1001;
  CHECK(contexts->find(stack.call()) == nullptr);
  stack.words[7] = 0x1000;
  CHECK(contexts->find(stack.call()) == &added);

  invalidate_walk_caches();
  CHECK(contexts->find(stack.call()) == nullptr);
}

TEST_CASE("many callers of one function at one depth are known at once") {
  // As calls from `operator new` look.
  const auto contexts = std::make_unique<AllocationContexts>();
  CallOnStack stack(0x1000, {{10, 0}});
  constexpr uint64_t kCallers = 40;
  for (int round = 0; round < 2; ++round) {
    uint64_t known = 0;
    for (uint64_t caller = 0; caller < kCallers; ++caller) {
      stack.words[10] = 0x5000 + caller * 24;
      if (const AllocationContext* const found = contexts->find(stack.call())) {
        CHECK(found->path() == 100 + caller);
        ++known;
        continue;
      }
      stack.record(contexts->record);
      contexts->add(stack.call(), 100 + caller, static_cast<NodeId>(caller));
    }
    CHECK(known == (round == 0 ? 0 : kCallers));
  }
}

TEST_CASE("the sites that a thread allocates at are remembered by path and size") {
  const auto sites = std::make_unique<LateSites>();
  CHECK(sites->find(1, 40) == kNoSite);
  sites->keep(1, 40, 7);
  sites->keep(1, 48, kLastSite);
  sites->keep(2, 40, 8);
  CHECK(sites->find(1, 40) == 7);
  CHECK(sites->find(1, 48) == kLastSite);
  CHECK(sites->find(2, 40) == 8);
  CHECK(sites->find(2, 48) == kNoSite);
  sites->keep(1, 40, 9);
  CHECK(sites->find(1, 40) == 9);
  // If there are more than fit, no lookup returns another one's number.
  for (SiteId size = 1; size < 20'000; ++size) sites->keep(3, size, size);
  for (SiteId size = 1; size < 20'000; ++size)
    if (const SiteId found = sites->find(3, size)) CHECK(found == size);
}

TEST_CASE("nothing is read beyond the stack") {
  const auto contexts = std::make_unique<AllocationContexts>();
  CallOnStack stack(0x1000, {{10, 0x2000}, {40, 0x3000}});
  AllocationCall call = stack.call();
  call.limit = reinterpret_cast<uint64_t>(stack.words + 30);
  stack.record(contexts->record);
  AllocationContext& added = contexts->add(call, 1, 1);
  stack.words[40] = 1;
  CHECK(contexts->find(call) == &added);
  // For a stack that is not the thread's own, the limit is the end of the page.
  const AllocationCall elsewhere = call_at(stack.words + 8, {0, 0});
  CHECK(elsewhere.limit == reinterpret_cast<uint64_t>(stack.words) + 4096);
}

TEST_CASE("a thread is asked at a pace where it allocates") {
  constexpr const WalkPace::Budget &kAlone = WalkPace::kAlone, &kSearched = WalkPace::kSearched;
  auto pace = std::make_unique<WalkPace>();
  uint64_t now_ns = 5'000'000'000, asked = 0;
  const auto clock = [&] { return ++asked, now_ns; };
  const auto taken_of = [&](uint32_t calls, const WalkPace::Budget& budget = WalkPace::kSearched) {
    uint32_t taken = 0;
    for (uint32_t i = 0; i < calls; ++i) taken += pace->takes(clock, budget);
    return taken;
  };
  CHECK(taken_of(kAlone.first, kAlone) == kAlone.first);
  CHECK(asked == 0);
  CHECK(taken_of(100, kAlone) == 0);
  asked = 0;
  CHECK(taken_of(kSearched.first - kAlone.first) == kSearched.first - kAlone.first);
  CHECK(asked == 0);
  CHECK(taken_of(1'000) == 0);
  CHECK(asked <= 1'000 / WalkPace::kAskedEach + 1);
  now_ns += 10 * kSearched.ns_per_walk;
  CHECK(taken_of(1'000) == 10);
  now_ns += kSearched.ns_per_walk / 2;  // a remainder that is too small for one is kept
  CHECK(taken_of(1'000) == 0);
  now_ns += kSearched.ns_per_walk / 2;
  CHECK(taken_of(1'000) == 1);
  now_ns += 100'000 * kSearched.ns_per_walk;  // but not all unused time is kept
  CHECK(taken_of(100'000) == kSearched.first);
  now_ns += 3 * kAlone.ns_per_walk;
  CHECK(taken_of(1'000, kAlone) == 3);
  for (int walk = 0; walk < 100; ++walk) pace->took(kSearched.ns_per_walk / WalkPace::kLongWalks * 2);
  now_ns += 10 * kSearched.ns_per_walk;  // if walks are long, fewer are made
  CHECK(taken_of(1'000) == 5);
}

TEST_CASE("of a thread that comes while nothing is searched for few walks are made, and all in a search") {
  auto pace = std::make_unique<WalkPace>();
  const auto clock = [] { return uint64_t{5'000'000'000}; };
  const auto taken_of = [&](uint32_t calls, const WalkPace::Budget& budget) {
    uint32_t taken = 0;
    for (uint32_t i = 0; i < calls; ++i) taken += pace->takes(clock, budget);
    return taken;
  };
  CHECK(taken_of(1'000, WalkPace::kAtRest) == WalkPace::kAtRest.first);
  CHECK(taken_of(1'000, WalkPace::kSearched) == 1'000);
}

TEST_CASE("walks that take long are free for a while only") {
  auto pace = std::make_unique<WalkPace>();
  const auto clock = [] { return uint64_t{5'000'000'000}; };
  const auto free_ones = [&](const WalkPace::Budget& budget) {
    uint32_t taken = 0;
    for (; pace->takes(clock, budget); ++taken) pace->took(20'000);
    return taken;
  };
  const uint32_t alone = free_ones(WalkPace::kAlone);
  CHECK(alone >= WalkPace::kAlone.first_ns / 20'000);
  CHECK(alone < WalkPace::kAlone.first);
  const uint32_t all = alone + free_ones(WalkPace::kSearched);
  CHECK(all >= WalkPace::kSearched.first_ns / 20'000);
  CHECK(all <= WalkPace::kSearched.first_ns / 20'000 + 20);  // the first measurements count less
}

// The repair plan: what is valid, which modules it refers to, and which contexts it names.

#include "repair/layout/planned_sites.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/repair/layout/plans.h"

using namespace hpcrun;
namespace test = prof::test;
using test::PlanBytes;

namespace {

constexpr uint8_t kBuild[] = {1, 2, 3, 4};
constexpr uint8_t kOtherBuild[] = {1, 2, 3, 5};

bool is_plan(const PlanBytes& plan) {
  PlanView view;
  return check_repair_plan(plan.data(), plan.size(), view);
}

AnnouncedModule announced(uint16_t id, const char* path, const uint8_t* build_id, uint64_t load_bias = 0) {
  return {id, path, build_id, build_id ? 4u : 0u, load_bias};
}

std::vector<uint32_t> entries_for(const PlannedSites& sites, std::vector<FrameKey> frames) {
  PlanEntries found;
  sites.match(frames.data(), static_cast<uint32_t>(frames.size()), found);
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < kMaxPlanEntries; ++i)
    if (found.holds(i)) numbers.push_back(i);
  CHECK(found.is_empty() == numbers.empty());
  return numbers;
}

}  // namespace

TEST_CASE("a plan says what it is, as large as it says") {
  const PlanBytes plan = test::a_plan();
  CHECK(is_plan(plan));
  for (size_t bytes = 0; bytes < plan.size(); ++bytes) {
    PlanView view;
    REQUIRE_FALSE(check_repair_plan(plan.data(), bytes, view));
    REQUIRE(view.entry_count == 0);
  }
  PlanBytes longer = plan;
  longer.append("", 1);
  CHECK_FALSE(is_plan(longer));
  CHECK(is_plan(test::plan_of({}, {}, {})));
}

TEST_CASE("no number of a plan is out of its range") {
  const auto with = [](auto change) {
    std::vector<PlanEntry> entries = test::entries();
    std::vector<PlanFrame> frames = test::frames();
    std::vector<PlanModule> modules = test::modules();
    change(entries, frames, modules);
    return is_plan(test::plan_of(entries, frames, modules));
  };
  CHECK(with([](auto&, auto&, auto&) {}));
  CHECK_FALSE(with([](auto& entries, auto&, auto&) { entries[0].kind = static_cast<PlanKind>(0); }));
  CHECK_FALSE(with([](auto& entries, auto&, auto&) { entries[0].kind = static_cast<PlanKind>(4); }));
  CHECK_FALSE(with([](auto& entries, auto&, auto&) { entries[0].frame_count = 0; }));
  CHECK_FALSE(with([](auto& entries, auto&, auto&) { entries[0].frame_count = 17; }));
  CHECK_FALSE(with([](auto& entries, auto&, auto&) { entries[0].first_frame = UINT32_MAX; }));
  CHECK_FALSE(with([](auto& entries, auto& frames, auto&) {
    entries[0].first_frame = static_cast<uint32_t>(frames.size());
  }));
  for (const uint32_t align : {0u, 8u, 24u, 256u})
    CHECK_FALSE(with([align](auto& entries, auto&, auto&) { entries[0].align = align; }));
  for (const uint32_t offset : {8u, 64u, 17u})
    CHECK_FALSE(with([offset](auto& entries, auto&, auto&) { entries[0].offset = offset; }));
  for (const uint32_t pad : {0u, 2u, 32u, 256u})
    CHECK_FALSE(with([pad](auto& entries, auto&, auto&) { entries[0].pad = pad; }));
  CHECK_FALSE(with([](auto& entries, auto&, auto&) {
    entries[0].align = 16;
    entries[0].offset = 0;
    entries[0].pad = 1;  // malloc's own behaviour
  }));
  CHECK_FALSE(with([](auto& entries, auto&, auto&) { entries[0].least_bytes = 0; }));
  CHECK_FALSE(with([](auto& entries, auto&, auto&) { entries[0].least_bytes = entries[0].most_bytes + 1; }));
  CHECK_FALSE(with([](auto& entries, auto&, auto&) { entries[0].most_bytes = UINT64_MAX; }));
  CHECK_FALSE(with(
      [](auto&, auto& frames, auto& modules) { frames[0].module = static_cast<uint32_t>(modules.size()); }));
  CHECK_FALSE(with([](auto&, auto&, auto& modules) { modules[0].build_id_bytes = 65; }));
  CHECK_FALSE(with([](auto&, auto&, auto& modules) { modules[0].path[0] = '\0'; }));
  CHECK_FALSE(
      with([](auto&, auto&, auto& modules) { std::memset(modules[0].path, 'x', sizeof modules[0].path); }));
  // A variable has one address.
  CHECK_FALSE(with([](auto& entries, auto&, auto&) { entries[2].frame_count = 2; }));
}

TEST_CASE("a module is identified by its build, or by its path where it has none") {
  const PlanBytes plan = test::a_plan();
  PlannedSites sites;
  REQUIRE(sites.start(plan.data(), plan.size()));
  const PlanEntry& entry = sites.plan().entries[0];
  CHECK(sites.address_of(entry, 0) == 0);
  CHECK_FALSE(sites.announce(announced(5, "/bin/app", kOtherBuild)));
  CHECK_FALSE(sites.announce(announced(5, "/bin/app", nullptr)));
  CHECK(sites.announce(announced(6, "/elsewhere/app", kBuild, 0x400000)));
  CHECK(sites.address_of(entry, 0) == 0x400000 + 0x1111);
  CHECK_FALSE(sites.announce(announced(7, "/lib/plain.so.2", nullptr)));
  CHECK_FALSE(sites.announce(announced(7, "/lib/plain.so", kBuild)) == false);  // the first one again
  CHECK(sites.announce(announced(8, "/lib/plain.so", nullptr, 0x7000)));
  CHECK(sites.address_of(entry, 1) == 0x7000 + 0x2222);
}

TEST_CASE("an entry names contexts by the frames that it has, innermost first") {
  const PlanBytes plan = test::a_plan();
  PlannedSites sites;
  REQUIRE(sites.start(plan.data(), plan.size()));
  const FrameKey app = make_frame(6, 0x1111), plain = make_frame(8, 0x2222), main = make_frame(6, 0x9999);
  CHECK(entries_for(sites, {app, plain, main}).empty());  // nothing is loaded yet
  sites.announce(announced(6, "/bin/app", kBuild));
  CHECK(entries_for(sites, {app, plain, main}) == std::vector<uint32_t>{1});
  sites.announce(announced(8, "/lib/plain.so", nullptr));
  CHECK(entries_for(sites, {app, plain, main}) == std::vector<uint32_t>{0, 1});
  CHECK(entries_for(sites, {app, plain}) == std::vector<uint32_t>{0, 1});
  CHECK(entries_for(sites, {app, main}) == std::vector<uint32_t>{1});
  CHECK(entries_for(sites, {plain, app}).empty());
  CHECK(entries_for(sites, {make_frame(7, 0x1111), plain}).empty());
  CHECK(entries_for(sites, {}).empty());
  sites.clear_modules();
  CHECK(entries_for(sites, {app, plain, main}).empty());
}

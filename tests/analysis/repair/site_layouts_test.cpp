// Which allocation sites a finding has, and where their objects should be placed.

#include "analysis/repair/site_layouts.h"

#include <catch2/catch.hpp>

using namespace prof;
using hpcrun::AccessKind;

namespace {

DataObject allocation(uint64_t begin, uint64_t bytes, uint32_t site) {
  DataObject object;
  object.kind = ObjectKind::Heap;
  object.begin = begin;
  object.bytes = bytes;
  object.site = site;
  return object;
}

ContentionSide side(uint32_t thread, uint32_t object, uint64_t offset, uint64_t accesses = 50) {
  ContentionSide made;
  made.thread = thread;
  made.object = object;
  made.offset = offset;
  made.bytes = 8;
  made.kind = AccessKind::ReadWrite;
  made.accesses = accesses;
  return made;
}

ContendedData finding(std::vector<uint32_t> objects, std::vector<ContentionSide> sides) {
  ContendedData found;
  found.has_object = true;
  found.objects = std::move(objects);
  found.sides = std::move(sides);
  return found;
}

constexpr hpcrun::Placement kOwnLines{.align = 64, .offset = 0, .pad = 64};

}  // namespace

TEST_CASE("neighbouring allocations of one site get lines of their own") {
  const std::vector<DataObject> objects = {allocation(0x1010, 24, 7), allocation(0x1030, 20, 7)};
  const auto layouts = lay_out_sites(finding({0, 1}, {side(1, 0, 0), side(2, 1, 8, 30)}), objects);
  REQUIRE(layouts.size() == 1);
  CHECK(layouts[0].site == 7);
  CHECK(layouts[0].objects == std::vector<uint32_t>{0, 1});
  CHECK(layouts[0].least_bytes == 20);
  CHECK(layouts[0].most_bytes == 24);
  CHECK(layouts[0].placement == kOwnLines);
  CHECK(layouts[0].conflicts_before == 30);
  CHECK(layouts[0].conflicts_after == 0);
  CHECK_FALSE(layouts[0].is_mapping);
}

TEST_CASE("neighbours of different sites are both placed, each for the conflict with the other") {
  const std::vector<DataObject> objects = {allocation(0x1000, 24, 1), allocation(0x1020, 24, 2)};
  const auto layouts = lay_out_sites(finding({0, 1}, {side(1, 0, 0), side(2, 1, 0)}), objects);
  REQUIRE(layouts.size() == 2);
  for (const SiteLayout& layout : layouts) {
    CHECK(layout.placement == kOwnLines);
    CHECK(layout.conflicts_before == 50);
  }
}

TEST_CASE("threads that meet within an object are not helped") {
  const std::vector<DataObject> objects = {allocation(0x1010, 24, 1)};
  const auto layouts = lay_out_sites(finding({0}, {side(1, 0, 0), side(2, 0, 8)}), objects);
  REQUIRE(layouts.size() == 1);
  CHECK(layouts[0].placement == hpcrun::kAsAllocated);
  CHECK(layouts[0].conflicts_after == 50);
}

TEST_CASE("an alignment that the program asks for stays, and is reported where it stands in the way") {
  std::vector<DataObject> objects = {allocation(0x1000, 48, 1), allocation(0x1040, 48, 1)};
  objects[1].align = 64;
  const ContendedData found = finding({0, 1}, {side(1, 0, 8), side(2, 0, 16)});
  const auto bound = lay_out_sites(found, objects);
  REQUIRE(bound.size() == 1);
  CHECK(bound[0].align == 64);
  CHECK(bound[0].placement == hpcrun::kAsAllocated);
  CHECK(bound[0].is_bound);
  objects[1].align = 16;
  const auto free = lay_out_sites(found, objects);
  CHECK(free[0].placement == hpcrun::Placement{.align = 64, .offset = 48, .pad = 64});
  CHECK_FALSE(free[0].is_bound);
}

TEST_CASE("a size that is not known is any size, and whole pages are no allocator's") {
  const std::vector<DataObject> objects = {allocation(0x1000, 0, 1), allocation(0x4000, 8192, 2)};
  const auto layouts =
      lay_out_sites(finding({0, 1}, {side(1, 0, 0), side(2, 0, 8), side(1, 1, 0), side(2, 1, 8)}), objects);
  REQUIRE(layouts.size() == 2);
  CHECK(layouts[0].least_bytes == 0);
  CHECK(layouts[0].most_bytes == INT64_MAX);
  CHECK_FALSE(layouts[0].is_mapping);
  CHECK(layouts[1].is_mapping);
}

TEST_CASE("variables have no site") {
  std::vector<DataObject> objects = {allocation(0x1000, 16, 1)};
  objects[0].kind = ObjectKind::Static;
  CHECK(lay_out_sites(finding({0}, {side(1, 0, 0), side(2, 0, 8)}), objects).empty());
}

// Counted writes become findings, line by line.

#include "analysis/contention/written_data.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace prof;
using hpcrun::Sharing;

namespace {

constexpr uint64_t kLine = 0x7f0000001040;

constexpr uint64_t bytes(unsigned from, unsigned count) {
  return ((uint64_t{1} << count) - 1) << from;
}

DataObject object(uint64_t begin, uint64_t size, uint32_t site) {
  DataObject made;
  made.kind = ObjectKind::Heap;
  made.begin = begin;
  made.bytes = size;
  made.site = site;
  return made;
}

}  // namespace

TEST_CASE("counters of two threads in one object share its line falsely") {
  const std::vector<DataObject> objects = {object(kLine - 16, 64, 7)};
  const std::vector<WrittenBytes> written = {
      {1, kLine, bytes(0, 3) | bytes(8, 2), 0, 200, 190, 0, 190},
      {2, kLine, bytes(16, 3), 0, 180, 170, 0, 170},
  };
  const std::vector<ContendedData> found = find_written_data(written, objects);
  REQUIRE(found.size() == 1);
  const ContendedData& data = found[0];
  CHECK(data.sharing == Sharing::False);
  CHECK((data.has_object && data.site == 7));
  CHECK(data.interleaved == 360);
  CHECK(data.lines == std::vector<uint64_t>{kLine});
  CHECK(data.objects == std::vector<uint32_t>{0});
  REQUIRE(data.sides.size() == 3);
  CHECK((data.sides[0].thread == 1 && data.sides[0].offset == 16 && data.sides[0].bytes == 3));
  CHECK((data.sides[1].thread == 1 && data.sides[1].offset == 24 && data.sides[1].bytes == 2));
  CHECK((data.sides[2].thread == 2 && data.sides[2].offset == 32 && data.sides[2].accesses == 180));
  CHECK(data.sides[2].kind == hpcrun::AccessKind::Write);
}

TEST_CASE("one word is shared truly, and a total beside counters in both ways") {
  const std::vector<WrittenBytes> total = {{1, kLine, bytes(0, 8), kNoObject, 100, 99, 99, 0},
                                           {2, kLine, bytes(0, 8), kNoObject, 100, 99, 99, 0}};
  CHECK(find_written_data(total, {}).at(0).sharing == Sharing::True);
  const std::vector<WrittenBytes> both = {{1, kLine, bytes(0, 16), kNoObject, 100, 99, 99, 99},
                                          {2, kLine, bytes(0, 8), kNoObject, 100, 99, 99, 50}};
  CHECK(find_written_data(both, {}).at(0).sharing == Sharing::Mixed);
}

TEST_CASE("objects of one site are one finding, the one with most writes by turns comes first") {
  const std::vector<DataObject> objects = {object(kLine, 16, 1), object(kLine + 32, 16, 1),
                                           object(kLine + 256, 64, 2)};
  const std::vector<WrittenBytes> written = {
      {1, kLine + 256, bytes(0, 4), 2, 400, 150, 0, 150},
      {2, kLine + 256, bytes(8, 4), 2, 400, 150, 0, 150},
      {1, kLine, bytes(0, 4), 0, 300, 290, 0, 290},
      {2, kLine, bytes(32, 4), 1, 300, 290, 0, 290},
  };
  const std::vector<ContendedData> found = find_written_data(written, objects);
  REQUIRE(found.size() == 2);
  CHECK((found[0].site == 1 && found[0].interleaved == 580));
  CHECK(found[0].objects == std::vector<uint32_t>{0, 1});
  CHECK((found[1].site == 2 && found[1].interleaved == 300));
}

TEST_CASE("what was written as an object was made is no side of it") {
  const std::vector<WrittenBytes> written = {{1, kLine, bytes(0, 4), kNoObject, 1000, 900, 0, 900},
                                             {2, kLine, bytes(8, 4), kNoObject, 1000, 900, 0, 900},
                                             {3, kLine, bytes(16, 8), kNoObject, 1, 1, 0, 1}};
  const std::vector<ContendedData> found = find_written_data(written, {});
  REQUIRE(found.size() == 1);
  CHECK(found[0].sides.size() == 2);
  CHECK(std::ranges::none_of(found[0].sides, [](const ContentionSide& side) { return side.thread == 3; }));
}

TEST_CASE("a whole line is one place") {
  const std::vector<WrittenBytes> written = {{1, kLine, ~uint64_t{0}, kNoObject, 10, 9, 9, 0},
                                             {2, kLine, ~uint64_t{0}, kNoObject, 10, 9, 9, 0}};
  const std::vector<ContendedData> found = find_written_data(written, {});
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].sides.size() == 2);
  CHECK((found[0].sides[0].offset == kLine && found[0].sides[0].bytes == 64));
}

TEST_CASE("of many objects one after the other the sides of a few are reported") {
  std::vector<DataObject> objects;
  std::vector<WrittenBytes> written;
  for (uint32_t life = 0; life < 20; ++life) {
    objects.push_back(object(kLine, 64, 1));
    for (uint32_t thread = 0; thread < 2; ++thread)
      written.push_back({thread, kLine, bytes(8 * thread, 4), life, 200 + life, 190, 0, 190, life});
  }
  const std::vector<ContendedData> found = find_written_data(written, objects);
  REQUIRE(found.size() == 1);
  CHECK((found[0].interleaved == 20 * 380 && found[0].lines.size() == 1 && found[0].objects.size() == 20));
  CHECK(found[0].sides.size() == 8);
}

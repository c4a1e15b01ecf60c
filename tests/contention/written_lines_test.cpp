#include "hpcrun/contention/written_lines.h"

#include <catch2/catch.hpp>

#include <set>

using namespace hpcrun;

namespace {

constexpr uint64_t kBegin = 0x7f0000000000;

std::set<uint64_t> lines_in(WrittenLines& lines, uint64_t low, uint64_t high) {
  std::set<uint64_t> found;
  lines.for_each_in(low, high, [&](uint64_t line, WrittenLine&) { found.insert(line); });
  return found;
}

}  // namespace

TEST_CASE("lines of a range are found, in small ranges and in large ones") {
  WrittenLines lines;
  CHECK(lines_in(lines, 0, ~uint64_t{0}).empty());  // not started
  REQUIRE(lines.start());
  for (const uint64_t at : {0, 64, 4096, 1 << 20}) lines.note(kBegin + at, 1, 1);
  CHECK(lines_in(lines, kBegin + 10, kBegin + 20) == std::set<uint64_t>{kBegin});
  CHECK(lines_in(lines, kBegin + 64, kBegin + 65) == std::set<uint64_t>{kBegin + 64});
  CHECK(lines_in(lines, kBegin, kBegin + 64) == std::set<uint64_t>{kBegin});
  CHECK(lines_in(lines, kBegin + 63, kBegin + (1 << 20)) ==
        std::set<uint64_t>{kBegin, kBegin + 64, kBegin + 4096});
  CHECK(lines_in(lines, 0, ~uint64_t{0}).size() == 4);
}

TEST_CASE("what threads change is counted line by line") {
  WrittenLines lines;
  REQUIRE(lines.start());
  for (int i = 0; i < 3; ++i) {
    lines.note(kBegin, 1, 1);
    lines.note(kBegin, 2, 2);
    lines.note(kBegin + 64, 1, 1);
  }
  std::set<uint32_t> counts;
  lines.for_each_in(kBegin, kBegin + 128,
                    [&](uint64_t, WrittenLine& line) { counts.insert(line.interleaved()); });
  CHECK(counts == std::set<uint32_t>{0, 5});
}

TEST_CASE("lines for which there is no room are counted") {
  WrittenLines lines;
  lines.note(kBegin, 1, 1);
  CHECK(lines.lost() == 1);  // not started
  REQUIRE(lines.start());
  for (uint64_t i = 0; i < 2 * WrittenLines::kMaxLines; ++i)
    for (uint32_t thread = 1; thread <= 2; ++thread) lines.note(kBegin + i * 64, thread, thread);
  const size_t kept = lines_in(lines, 0, ~uint64_t{0}).size();
  CHECK(kept <= WrittenLines::kMaxLines);
  CHECK(lines.lost() == 1 + 2 * (2 * WrittenLines::kMaxLines - kept));
}

TEST_CASE("lines that one thread alone changes make room for others") {
  WrittenLines lines;
  REQUIRE(lines.start());
  for (uint32_t thread = 1; thread <= 2; ++thread) lines.note(kBegin, thread, thread);
  for (uint64_t i = 1; i <= 4 * WrittenLines::kMaxLines; ++i) lines.note(kBegin + i * 64, 1, 1);
  CHECK(lines.lost() == 0);
  CHECK(lines_in(lines, kBegin, kBegin + 64) == std::set<uint64_t>{kBegin});
  const uint64_t last = kBegin + 4 * WrittenLines::kMaxLines * 64;
  CHECK(lines_in(lines, last, last + 64) == std::set<uint64_t>{last});
}

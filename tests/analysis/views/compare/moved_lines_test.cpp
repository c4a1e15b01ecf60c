// Which line corresponds to which in a changed file.

#include "analysis/views/compare/moved_lines.h"

#include <catch2/catch.hpp>

using namespace prof;
using Lines = std::vector<uint32_t>;

namespace {

std::string numbered(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

}  // namespace

TEST_CASE("lines that are the same text are the same line") {
  CHECK(moved_lines("a\nb\nc\n", "a\nb\nc\n") == Lines{1, 2, 3});
  CHECK(moved_lines("a\nb\nc\n", "new\na\nb\nnew\nc\n") == Lines{2, 3, 5});
  CHECK(moved_lines("a\n  b\nc", "x\na\nb \r\nc\n") == Lines{2, 3, 4});
  CHECK(moved_lines("}\na\n}\nb\n}\n", "}\nb\n}\n") == Lines{1, 1, 1, 2, 3});
}

TEST_CASE("a line that was changed is what stands there instead, one that is gone that before it") {
  CHECK(moved_lines("a\nold\nc\n", "a\nnew\nc\n") == Lines{1, 2, 3});
  CHECK(moved_lines("a\nold\nolder\nc\n", "a\nnew\nc\n") == Lines{1, 2, 2, 3});
  CHECK(moved_lines("a\ngone\nc\n", "a\nc\n") == Lines{1, 1, 2});
  CHECK(moved_lines("gone\na\n", "a\n") == Lines{1, 1});
  CHECK(moved_lines("", "a\n").empty());
  CHECK(moved_lines("a\n", "") == Lines{1});
}

TEST_CASE("what both files have once is the same line, in another order too") {
  CHECK(moved_lines("a\nf();\ng();\nz\n", "a\ng();\nf();\nz\n") == Lines{1, 3, 2, 4});
  CHECK(moved_lines("a\nf();\ng();\nz\n", "a\ng();\nh();\nf();\nf();\nz\n") == Lines{1, 1, 2, 6});
}

TEST_CASE("long files are aligned by what they have once") {
  const std::string before = numbered(0, 9000);
  std::string after = "// changed\n" + numbered(0, 3000) + "// more\n" + numbered(3000, 6000);
  after += "else\n" + numbered(6001, 9000) + "// end\n";
  const Lines lines = moved_lines(before, after);
  REQUIRE(lines.size() == 9000);
  CHECK(lines[0] == 2);
  CHECK(lines[2999] == 3001);
  CHECK(lines[3000] == 3003);
  CHECK(lines[6000] == 6003);  // "line 6000" became "else"
  CHECK(lines[8999] == 9002);
}

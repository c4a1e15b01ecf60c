#include <catch2/catch.hpp>

#include "analysis/views/tree/view.h"
#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

namespace {

struct Expected {
  std::string name;
  uint32_t depth, parent;
  double exclusive, inclusive;
  uint32_t line;
};

void check_callers(const Database& database, const ViewOptions& options,
                   const std::vector<Expected>& expected) {
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  const View view = bottom_up(tree, options);
  REQUIRE(view.rows.size() == expected.size());
  for (size_t r = 0; r < expected.size(); ++r) {
    CAPTURE(r, expected[r].name);
    CHECK(frame_name(database, tree.frames[view.rows[r].frame]) == expected[r].name);
    CHECK(view.rows[r].depth == expected[r].depth);
    CHECK(view.rows[r].parent == expected[r].parent);
    CHECK(view.costs[r].exclusive == Approx(expected[r].exclusive));
    CHECK(view.costs[r].inclusive == Approx(expected[r].inclusive));
    CHECK(view.rows[r].location.line == expected[r].line);
  }
}

}  // namespace

TEST_CASE("bottom-up puts callers with their lines below each function, by exclusive cost") {
  check_callers(example(), {},
                {{"slow_sum", 0, kNone, 4.96, 4.96, 14},
                 {"main", 1, 0, 4.96, 4.96, 40},
                 {"add", 0, kNone, 2.75, 2.75, 4},
                 {"fast_sum", 1, 2, 2.75, 2.75, 22},
                 {"worker", 2, 3, 2.0, 2.0, 25},
                 {"main", 2, 3, 0.75, 0.75, 41},
                 {"fast_sum", 0, kNone, 0.25, 3.0, 23},
                 {"main", 1, 6, 0.25, 1.0, 41},
                 {"write", 0, kNone, 0.04, 0.04, 0},
                 {"main", 1, 8, 0.04, 0.04, 44}});
}

TEST_CASE("a recursive function is its own caller, its inclusive cost counted once along each chain") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"f", 1}}, 1);
  b.spend(t, {{"f", 2}, {"f", 1}}, 2);
  b.spend(t, {{"f", 2}, {"f", 2}, {"f", 1}}, 4);
  check_callers(b.build(), {}, {{"f", 0, kNone, 7, 7, 1}, {"f", 1, 0, 6, 6, 2}, {"f", 2, 1, 4, 4, 2}});
}

TEST_CASE("the threshold and the depth cut callers off") {
  check_callers(example(), {30, 0, false},
                {{"slow_sum", 0, kNone, 4.96, 4.96, 14},
                 {"main", 1, 0, 4.96, 4.96, 40},
                 {"add", 0, kNone, 2.75, 2.75, 4},
                 {"fast_sum", 1, 2, 2.75, 2.75, 22}});
  check_callers(example(), {30, 1, false},
                {{"slow_sum", 0, kNone, 4.96, 4.96, 14}, {"add", 0, kNone, 2.75, 2.75, 4}});
}

#include <catch2/catch.hpp>

#include "analysis/views/tree/view.h"
#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

namespace {

std::string name(const CallTree& tree, const Row& row) {
  return frame_name(*tree.database, tree.frames[row.frame]);
}

}  // namespace

TEST_CASE("flat sums a function over all its callers, heaviest exclusive cost first") {
  const Database database = example();
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  const View view = flat(tree, {});
  REQUIRE(view.rows.size() == 6);
  const char* names[] = {"slow_sum", "add", "fast_sum", "write", "main", "worker"};
  const double exclusive[] = {4.96, 2.75, 0.25, 0.04, 0, 0}, inclusive[] = {4.96, 2.75, 3.0, 0.04, 6, 2};
  const uint32_t line[] = {14, 4, 23, 0, 40, 25};
  const bool inlined[] = {false, true, false, false, false, false};
  for (size_t r = 0; r < 6; ++r) {
    CAPTURE(names[r]);
    CHECK(name(tree, view.rows[r]) == names[r]);
    CHECK(view.costs[r].exclusive == Approx(exclusive[r]));
    CHECK(view.costs[r].inclusive == Approx(inclusive[r]));
    CHECK(view.rows[r].location.line == line[r]);
    CHECK(view.rows[r].inlined == inlined[r]);
    CHECK(view.rows[r].parent == kNone);
  }
}

TEST_CASE("flat counts the inclusive cost of a recursive function once") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"fib", 1}, {"fib", 1}, {"fib", 2}}, 3);
  b.spend(t, {{"fib", 1}, {"other", 7}, {"fib", 2}}, 1);
  b.spend(t, {{"other", 8}, {"fib", 2}}, 0.5);
  const Database database = b.build();
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  const View view = flat(tree, {});
  REQUIRE(view.rows.size() == 2);
  CHECK(name(tree, view.rows[0]) == "fib");
  CHECK(view.costs[0].inclusive == Approx(4.5));
  CHECK(view.costs[0].exclusive == Approx(4.5));
  CHECK(name(tree, view.rows[1]) == "other");
  CHECK(view.costs[1].inclusive == Approx(1.5));
  CHECK(view.costs[1].exclusive == 0);
}

TEST_CASE("flat keeps what reaches the threshold by either cost, and entry points only for their own cost") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"main", 1}, {"work", 2}}, 90);
  b.spend(t, {}, 10, 0, "broken stacks");
  const Database database = b.build();
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  const View view = flat(tree, {5, 0, false});
  REQUIRE(view.rows.size() == 3);
  CHECK(name(tree, view.rows[0]) == "work");
  CHECK(name(tree, view.rows[1]) == "broken stacks");
  CHECK(name(tree, view.rows[2]) == "main");
}

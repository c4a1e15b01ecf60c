#include "analysis/views/tree/line_tree.h"

#include <catch2/catch.hpp>

#include "analysis/views/tree/view.h"
#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

namespace {

CallTree lines_of(const Database& database, const std::vector<std::string>& threads = {},
                  bool merged = false) {
  return split_by_line(build_call_tree(database, select(database, {}, threads), merged));
}

struct ExpectedLine {
  std::string function;
  uint32_t line;  // 0: not known
  double exclusive, inclusive;
};

void check(const CallTree& tree, const View& view, const std::vector<ExpectedLine>& expected) {
  REQUIRE(view.rows.size() == expected.size());
  for (size_t r = 0; r < expected.size(); ++r) {
    CAPTURE(r, expected[r].function, expected[r].line);
    CHECK(frame_name(*tree.database, tree.frames[view.rows[r].frame]) == expected[r].function);
    CHECK(view.rows[r].location.known() == (expected[r].line > 0));
    CHECK(view.rows[r].location.line == expected[r].line);
    CHECK(view.costs[r * tree.metrics()].exclusive == Approx(expected[r].exclusive));
    CHECK(view.costs[r * tree.metrics()].inclusive == Approx(expected[r].inclusive));
  }
}

}  // namespace

TEST_CASE("each line has its own cost, and with it the cost of what it calls") {
  const Database database = example();
  const CallTree tree = lines_of(database);
  const View view = flat(tree, {});
  check(tree, view,
        {{"slow_sum", 14, 4.96, 4.96},
         {"add", 4, 2.75, 2.75},
         {"fast_sum", 23, 0.25, 0.25},
         {"write", 0, 0.04, 0.04},
         {"main", 40, 0, 4.96},
         {"fast_sum", 22, 0, 2.75},
         {"worker", 25, 0, 2},
         {"main", 41, 0, 1},
         {"main", 44, 0, 0.04}});
  CHECK(view.rows[1].inlined);
  CHECK_FALSE(view.rows[0].inlined);
  CHECK(tree.totals == std::vector<double>{8.0});
}

TEST_CASE("lines of one function are apart, and so are lines of one number in two functions") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"f", 5}}, 1);
  b.spend(t, {{"f", 8}}, 4);
  b.spend(t, {{"g", 5}}, 2);
  b.spend(t, {{"g", 7}, {"f", 8}}, 0.5);
  const Database database = b.build();
  const CallTree tree = lines_of(database);
  check(tree, flat(tree, {}), {{"f", 8, 4.5, 4.5}, {"g", 5, 2, 2}, {"f", 5, 1, 1}, {"g", 7, 0, 0.5}});
}

TEST_CASE("what a function spent outside of its lines is a row of its own, without a line") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.function("f", "f.cpp", "/bin/x", 1);
  b.spend(t, {{"f", 0}}, 3);
  b.spend(t, {{"f", 7}}, 2);
  const Database database = b.build();
  const CallTree tree = lines_of(database);
  check(tree, flat(tree, {}), {{"f", 0, 3, 3}, {"f", 7, 2, 2}});
}

TEST_CASE("a line that recurses counts its inclusive cost once") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"fib", 3}, {"fib", 3}, {"fib", 2}}, 3);
  b.spend(t, {{"fib", 3}, {"fib", 4}, {"fib", 2}}, 1);
  b.spend(t, {{"fib", 4}, {"fib", 3}, {"fib", 2}}, 2);
  const Database database = b.build();
  const CallTree tree = lines_of(database);
  check(tree, flat(tree, {}), {{"fib", 2, 6, 6}, {"fib", 3, 0, 6}, {"fib", 4, 0, 3}});
  const CallTree merged = lines_of(database, {}, true);
  check(merged, flat(merged, {}), {{"fib", 2, 6, 6}});
}

TEST_CASE("thresholds, threads and statistics are about lines") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  for (int32_t thread = 0; thread < 2; ++thread) b.thread(thread);
  b.spend(0, {{"main", 1}, {"f", 5}}, 1);
  b.spend(1, {{"main", 1}, {"f", 5}}, 3);
  b.spend(1, {{"main", 1}, {"f", 6}}, 6);
  const Database database = b.build();
  const CallTree tree = lines_of(database);
  const View view = flat(tree, {50, 0, true});
  check(tree, view, {{"f", 6, 6, 6}, {"main", 1, 0, 10}});
  CHECK(view.threads[0].exclusive.count == 1);
  CHECK(view.threads[1].inclusive.count == 2);
  CHECK(view.threads[1].inclusive.minimum == Approx(1));
  CHECK(view.threads[1].inclusive.maximum == Approx(9));
  CHECK(view.threads[1].exclusive.sum == 0);
  const CallTree first = lines_of(database, {"0"});
  check(first, flat(first, {}), {{"f", 5, 1, 1}, {"main", 1, 0, 1}});
}

TEST_CASE("a line's cost is not counted again in the loop around it") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"f", 7}}, 2);
  Database database = b.build();
  // Nested as by HPCToolkit: the function, a loop in it, the line in the loop, an instruction of the line.
  const auto line = static_cast<uint32_t>(database.contexts.size() - 1);
  Context loop = database.contexts[line];
  loop.kind = ContextKind::Loop;
  loop.line = 6;
  database.contexts.insert(database.contexts.begin() + line, loop);
  database.contexts[line + 1].parent = line;
  Values values{2, 2, 0};
  database.profiles[0].values.back().values = values;
  database.profiles[0].values.push_back({line + 1, 0, {2, 2, 2}});
  database.summaries.clear();
  const CallTree tree = lines_of(database);
  check(tree, flat(tree, {}), {{"f", 7, 2, 2}});
}

TEST_CASE("nothing measured has no lines") {
  const Database empty;
  CHECK(flat(lines_of(empty), {}).rows.empty());
}

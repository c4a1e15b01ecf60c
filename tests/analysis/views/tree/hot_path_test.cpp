#include "analysis/views/tree/hot_path.h"

#include <catch2/catch.hpp>

#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

namespace {

std::string name(const CallTree& tree, uint32_t frame) {
  return frame_name(*tree.database, tree.frames[frame]);
}

CallTree hot_tree_of(const Database& database) {
  return build_call_tree(database, select(database, {}, {}), false);
}

}  // namespace

TEST_CASE("the hot path names the line of each call and the heaviest line at its end") {
  const Database database = example();
  const CallTree tree = hot_tree_of(database);
  const std::vector<PathStep> path = hot_path(tree);
  REQUIRE(path.size() == 3);
  CHECK(name(tree, path[0].frame) == "main thread");
  CHECK(name(tree, path[1].frame) == "main");
  CHECK(path[1].location.line == 40);
  CHECK(path[1].inclusive == Approx(6.0));
  CHECK(name(tree, path[2].frame) == "slow_sum");
  CHECK(path[2].location.line == 14);
}

TEST_CASE("the hot path goes on at one half and ends below it") {
  for (const double second : {5.0, 5.1}) {
    CAPTURE(second);
    DatabaseBuilder b;
    b.metric("CPUTIME", "sec");
    const uint32_t t = b.thread(0);
    b.spend(t, {{"main", 1}, {"left", 2}}, 5);
    b.spend(t, {{"main", 1}}, second);
    const Database database = b.build();
    const CallTree tree = hot_tree_of(database);
    CHECK(name(tree, hot_path(tree).back().frame) == (second == 5.0 ? "left" : "main"));
  }
}

TEST_CASE("the hot path ends where less than a tenth of the total is left") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"main", 1}, {"f1", 2}, {"f2", 3}, {"f3", 4}, {"f4", 5}}, 0.9);
  b.spend(t, {{"main", 1}, {"f1", 2}, {"f2", 3}, {"f3", 4}}, 0.7);
  b.spend(t, {{"main", 1}, {"f1", 2}, {"f2", 3}}, 1.2);
  b.spend(t, {{"main", 1}, {"f1", 2}}, 2.4);
  b.spend(t, {{"main", 1}}, 4.8);
  const Database database = b.build();
  const CallTree tree = hot_tree_of(database);
  CHECK(name(tree, hot_path(tree).back().frame) == "f3");
}

TEST_CASE("hot functions come with the chain of callers that holds at least half of their cost") {
  const Database database = example();
  const CallTree tree = hot_tree_of(database);
  const std::vector<HotFunction> hot = hot_functions(tree, 2);
  REQUIRE(hot.size() == 2);
  CHECK(name(tree, hot[0].frame) == "slow_sum");
  REQUIRE(hot[0].callers.size() == 1);
  CHECK(name(tree, hot[0].callers[0].frame) == "main");
  CHECK(hot[0].callers[0].location.line == 40);
  CHECK(name(tree, hot[1].frame) == "add");
  REQUIRE(hot[1].callers.size() == 2);
  CHECK(name(tree, hot[1].callers[0].frame) == "fast_sum");
  CHECK(hot[1].callers[0].inclusive == Approx(2.75));
  CHECK(name(tree, hot[1].callers[1].frame) == "worker");
  CHECK(hot[1].callers[1].inclusive == Approx(2.0));
  CHECK(hot[1].callers[1].location.line == 25);
}

TEST_CASE("a line comes with its share of the cost beside it") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"main", 1}, {"f", 5}}, 1);
  b.spend(t, {{"main", 1}, {"f", 8}}, 4);
  b.spend(t, {{"main", 2}, {"g"}}, 3);
  const Database database = b.build();
  const CallTree tree = hot_tree_of(database);
  const std::vector<PathStep> path = hot_path(tree);
  REQUIRE(path.size() == 3);
  CHECK(path[1].share_at_location == Approx(5.0 / 8));
  CHECK(path[2].location.line == 8);
  CHECK(path[2].share_at_location == Approx(0.8));
  const std::vector<HotFunction> hot = hot_functions(tree, 2);
  CHECK(hot[0].share_at_location == Approx(0.8));
  CHECK(hot[1].share_at_location == 1);  // without lines there is no share of a line
}

TEST_CASE("nothing measured has no hot path") {
  const Database empty;
  CHECK(hot_path(hot_tree_of(empty)).empty());
  CHECK(hot_functions(hot_tree_of(empty), 5).empty());
}
